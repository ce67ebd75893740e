package io.pushplanet.load.scenario;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/// A running platform: the entries of `.pushplanet/quickstart.json` that load needs.
///
/// @param pids process ids by program (`dispatcher_api`); 0 for one that runs elsewhere
public record Target(
    URI dispatcherUrl,
    String mqttHost,
    int mqttPort,
    AppId app,
    Secret apiKey,
    URI simulatorsUrl,
    String mysqlUrl,
    String mysqlUser,
    Secret mysqlPassword,
    String amqpUri,
    Map<String, Long> pids) {
  public Target {
    pids = Map.copyOf(pids);
  }

  private record File(
      URI dispatcherUrl,
      String mqttHost,
      int mqttPort,
      String app,
      String apiKey,
      URI simulatorsUrl,
      String mysqlUrl,
      String mysqlUser,
      String mysqlPassword,
      String amqpUri,
      TreeMap<String, Long> pids) {}

  /// Reads `quickstart.json`.
  public static Target of(Path quickstart) {
    try {
      File file = WireForm.read(Files.readAllBytes(quickstart), File.class);
      return new Target(
          file.dispatcherUrl,
          file.mqttHost,
          file.mqttPort,
          new AppId(file.app),
          new Secret(file.apiKey),
          file.simulatorsUrl,
          file.mysqlUrl,
          file.mysqlUser,
          new Secret(file.mysqlPassword),
          file.amqpUri,
          file.pids);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot read " + quickstart + "; is the platform up? Start it with ./pushplanet up", e);
    }
  }

  public InetSocketAddress mqtt() {
    return new InetSocketAddress(mqttHost, mqttPort);
  }
}
