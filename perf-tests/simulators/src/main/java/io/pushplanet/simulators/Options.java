package io.pushplanet.simulators;

import io.pushplanet.simulators.script.Durations;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;

/// The start options of the simulators. A port of 0 takes any free one.
///
/// @param host the name or address of all listeners; `localhost` for this machine only
public record Options(
    int apnsPort,
    int apnsSandboxPort,
    int fcmPort,
    int webPushPort,
    int hmsPort,
    int managementPort,
    Path state,
    boolean strictTokens,
    Duration apnsTokenRenewal,
    String host) {

  private static final Set<String> OPTIONS =
      Set.of(
          "--apns-port",
          "--apns-sandbox-port",
          "--fcm-port",
          "--webpush-port",
          "--hms-port",
          "--management-port",
          "--state",
          "--strict-tokens",
          "--apns-token-renewal",
          "--host");

  static final String USAGE =
      """
      Usage: simulators [--apns-port=N] [--apns-sandbox-port=N] [--fcm-port=N] [--webpush-port=N]
                        [--hms-port=N] [--management-port=N] [--state=DIR] [--strict-tokens]
                        [--apns-token-renewal=PT20M] [--host=localhost]
      Every port defaults to 0 = any free one; they are printed and written to DIR/simulators.json.
      """;

  /// All ports free, keeping everything in `state`.
  public static Options in(Path state) {
    return new Options(0, 0, 0, 0, 0, 0, state, false, Duration.ofMinutes(20), "localhost");
  }

  /// Reads a command line; an unknown word is refused.
  static Options of(String... arguments) {
    Options options = in(Path.of("simulators"));
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String name = equals < 0 ? argument : argument.substring(0, equals);
      String value = equals < 0 ? "" : argument.substring(equals + 1);
      options = options.with(name, value);
    }
    return options;
  }

  private Options with(String name, String value) {
    boolean flag = name.equals("--strict-tokens");
    if (!OPTIONS.contains(name)) {
      throw new IllegalArgumentException("\"" + name + "\" is unknown");
    }
    if (flag != value.isEmpty()) {
      throw new IllegalArgumentException(name + (flag ? " takes no value" : " needs a value"));
    }
    return new Options(
        name.equals("--apns-port") ? port(name, value) : apnsPort,
        name.equals("--apns-sandbox-port") ? port(name, value) : apnsSandboxPort,
        name.equals("--fcm-port") ? port(name, value) : fcmPort,
        name.equals("--webpush-port") ? port(name, value) : webPushPort,
        name.equals("--hms-port") ? port(name, value) : hmsPort,
        name.equals("--management-port") ? port(name, value) : managementPort,
        name.equals("--state") ? Path.of(value) : state,
        flag || strictTokens,
        name.equals("--apns-token-renewal") ? Durations.parse(value) : apnsTokenRenewal,
        name.equals("--host") ? value : host);
  }

  /// Where a simulator listens.
  InetSocketAddress at(int port) {
    return InetSocketAddress.createUnresolved(host, port);
  }

  private static int port(String name, String value) {
    try {
      int port = Integer.parseInt(value);
      if (port >= 0 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + "=" + value + " is no port", e);
    }
    throw new IllegalArgumentException(name + "=" + value + " is no port");
  }
}
