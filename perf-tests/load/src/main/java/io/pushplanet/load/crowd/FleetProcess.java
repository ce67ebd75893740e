package io.pushplanet.load.crowd;

import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.fleet.FleetProgram;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.Server;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/// A fleet in a process of its own, because the number of a process's open files is limited. It
/// ends with this JVM, because its standard input does. Not thread-safe; every call waits for the
/// answer.
public final class FleetProcess implements AutoCloseable {
  private final LineProgram program;

  private FleetProcess(LineProgram program) {
    this.program = program;
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

  /// A fleet that reads only at intervals ([FleetSettings#looksEvery]).
  public static FleetProcess startLooking(Duration every, Server server, String prefix, Path log) {
    return start(server, prefix, FleetSettings.DEFAULT.mostConnecting(), every, log);
  }

  private static FleetProcess start(
      Server server, String prefix, int atOnce, Duration looksEvery, Path log) {
    return start(List.of(), arguments(server, prefix, atOnce, looksEvery), log);
  }

  private static List<String> arguments(
      Server server, String prefix, int atOnce, Duration looksEvery) {
    return List.of(
        server.mqtt().getHostString(),
        Integer.toString(server.mqtt().getPort()),
        prefix,
        Integer.toString(atOnce),
        Long.toString(looksEvery.toNanos() / 1_000));
  }

  /// A fleet that gets only the processor time that others leave, as if its devices were elsewhere;
  /// without effect where there is no `chrt`. On a busy machine it stands still.
  ///
  /// @param atOnce connects of which the server has not heard the last, at most
  public static FleetProcess startSpare(Server server, String prefix, int atOnce, Path log) {
    return start(Spare.command(), arguments(server, prefix, atOnce, Duration.ZERO), log);
  }

  public static FleetProcess startSpare(Server server, String prefix, Path log) {
    return startSpare(server, prefix, FleetSettings.DEFAULT.mostConnecting(), log);
  }

  /// A fleet over TLS that can only connect and leave, and trusts only this certificate.
  public static FleetProcess startTls(
      InetSocketAddress server, String prefix, Path certificate, Path log) {
    return start(
        List.of(),
        List.of(
            server.getHostString(),
            Integer.toString(server.getPort()),
            prefix,
            "0",
            "0",
            certificate.toString()),
        log);
  }

  private static FleetProcess start(List<String> by, List<String> arguments, Path log) {
    return new FleetProcess(
        LineProgram.start(
            "the fleet",
            by,
            FleetProgram.class,
            arguments,
            Map.of(FleetProgram.MASTER_KEY, ConnectionManager.MASTER_KEY),
            log));
  }

  /// The fleet's device number `number`, counted from 0.
  public static Device device(String prefix, int number) {
    return FleetProgram.device(prefix, number);
  }

  public long pid() {
    return program.pid();
  }

  /// Whether the scheduler gives it only the time that others leave.
  public boolean isSpare() {
    return Spare.isOnly(program.pid());
  }

  /// Connects more devices until there are this many in all, subscribed at this QoS. Returns once
  /// they are subscribed.
  ///
  /// @return how many are subscribed
  public int connect(int devices, int qos) {
    return Integer.parseInt(program.ask("connect " + devices + " " + qos));
  }

  /// Cuts all connections at once, without a DISCONNECT. Returns once all are subscribed again, or
  /// five minutes have passed.
  ///
  /// @return how many are subscribed
  public int storm() {
    return Integer.parseInt(program.ask("storm"));
  }

  /// Disconnects and removes all devices.
  public void leave() {
    program.ask("leave");
  }

  /// Every device subscribes again, at this QoS; returns when all answers have come.
  ///
  /// @return how many came
  public long subscribe(int qos) {
    return Long.parseLong(program.ask("subscribe " + qos));
  }

  /// Every device pings once; returns when all answers have come.
  ///
  /// @return how many came
  public long ping() {
    return Long.parseLong(program.ask("ping"));
  }

  /// Waits until the fleet has got this number of messages since its last [#leave].
  ///
  /// @return how many it got, fewer when they do not come
  public long awaitReceived(long messages) {
    return Long.parseLong(program.ask("received " + messages));
  }

  /// From now on it notes which messages each device sees.
  public void note() {
    program.ask("note");
  }

  /// What its devices have seen since [#note].
  ///
  /// @param file for what one process tells the other
  public Sightings sightings(Path file) {
    program.ask("sightings " + file.toAbsolutePath());
    return Sightings.load(file);
  }

  /// Its state since the last [#leave].
  public FleetCounts counts() {
    return FleetCounts.parse(program.ask("counts"));
  }

  /// Connections that ended, and refused ones, since the last [#leave], with the reasons.
  public String troubles() {
    return program.ask("troubles");
  }

  @Override
  public void close() {
    program.close();
  }
}
