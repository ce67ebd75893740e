package io.pushplanet.load.node;

import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.fleet.FleetProgram;
import io.pushplanet.load.fleet.FleetSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A fleet in a process of its own, because a process may have only so many open files. Ends with this JVM: its standard
/// input does. Not thread-safe; every call waits for the answer.
public final class FleetProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader answers;
  private final Writer commands;

  private FleetProcess(Process process) {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
  }

  /// A fleet without devices yet.
  ///
  /// @param prefix of its device ids
  public static FleetProcess start(Server server, String prefix, Path log) {
    return start(server, prefix, FleetSettings.DEFAULT.mostConnecting(), log);
  }

  /// @param atOnce how many of them connect at the same time
  public static FleetProcess start(Server server, String prefix, int atOnce, Path log) {
    return start(server, prefix, atOnce, Duration.ZERO, log);
  }

  /// One that reads what came only so often ([FleetSettings#looksEvery]).
  public static FleetProcess startLooking(Duration every, Server server, String prefix, Path log) {
    return start(server, prefix, FleetSettings.DEFAULT.mostConnecting(), every, log);
  }

  private static FleetProcess start(
      Server server, String prefix, int atOnce, Duration looksEvery, Path log) {
    return start(
        List.of(
            server.mqtt().getHostString(),
            Integer.toString(server.mqtt().getPort()),
            prefix,
            Integer.toString(atOnce),
            Long.toString(looksEvery.toNanos() / 1_000)),
        log);
  }

  /// A fleet that comes over TLS, can only connect and leave, and trusts this certificate alone.
  public static FleetProcess startTls(
      InetSocketAddress server, String prefix, Path certificate, Path log) {
    return start(
        List.of(
            server.getHostString(),
            Integer.toString(server.getPort()),
            prefix,
            "0",
            "0",
            certificate.toString()),
        log);
  }

  private static FleetProcess start(List<String> arguments, Path log) {
    List<String> command = new ArrayList<>();
    command.add(JvmFlags.java());
    command.addAll(
        List.of(
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:+UseCompactObjectHeaders",
            "-cp",
            System.getProperty("java.class.path"),
            FleetProgram.class.getName()));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().put(FleetProgram.MASTER_KEY, ConnectionManager.MASTER_KEY);
    try {
      return new FleetProcess(builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException("the fleet's process cannot be started", e);
    }
  }

  /// The fleet's device number `number`, counted from 0.
  public static Device device(String prefix, int number) {
    return FleetProgram.device(prefix, number);
  }

  public long pid() {
    return process.pid();
  }

  /// Connects further devices until there are so many in all, subscribed at this QoS. Returns once they are subscribed.
  ///
  /// @return how many are
  public int connect(int devices, int qos) {
    return Integer.parseInt(ask("connect " + devices + " " + qos));
  }

  /// Cuts all connections at once, without a word. Returns once all are subscribed again, or five minutes have passed.
  ///
  /// @return how many are
  public int storm() {
    return Integer.parseInt(ask("storm"));
  }

  /// All devices say goodbye and are forgotten.
  public void leave() {
    ask("leave");
  }

  /// Every device subscribes again, at this QoS; returns when every answer came.
  ///
  /// @return how many came
  public long subscribe(int qos) {
    return Long.parseLong(ask("subscribe " + qos));
  }

  /// Every device pings once; returns when every answer came.
  ///
  /// @return how many came
  public long ping() {
    return Long.parseLong(ask("ping"));
  }

  /// Waits until the fleet has got so many messages since its last [#leave].
  ///
  /// @return how many it got, fewer when they do not come
  public long awaitReceived(long messages) {
    return Long.parseLong(ask("received " + messages));
  }

  /// How it is doing, since the last [#leave].
  public FleetCounts counts() {
    return FleetCounts.parse(ask("counts"));
  }

  /// Connections that ended, and refused ones, since the last [#leave], with the reasons.
  public String troubles() {
    return ask("troubles");
  }

  private String ask(String command) {
    try {
      commands.write(command + "\n");
      commands.flush();
      String answer = answers.readLine();
      if (answer == null || answer.startsWith("failed")) {
        throw new IllegalStateException(
            String.format(Locale.ROOT, "the fleet answers '%s' with: %s", command, answer));
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException("the fleet's process has ended", e);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }
}
