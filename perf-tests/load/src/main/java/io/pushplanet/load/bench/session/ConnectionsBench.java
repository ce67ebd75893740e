package io.pushplanet.load.bench.session;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.measure.BareConnects;
import io.pushplanet.load.measure.BareWrites;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.measure.SessionCosts;
import io.pushplanet.load.measure.SessionMeter;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.FullTable;
import io.pushplanet.load.node.Peer;
import io.pushplanet.load.node.Server;
import io.pushplanet.quickstart.platform.TlsIdentity;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// The cost of a connected device for us and for other servers under the same load in the same run:
/// memory of an idle session, processor time of a connect, a ping, a message. Each server runs
/// alone, in a process of its own; the devices are in another.
public final class ConnectionsBench {
  private static final String OURS = "connection-manager";
  private static final List<Integer> SESSIONS = List.of(5_000, 10_000, 19_500);

  /// HiveMQ CE needs a thousand descriptors besides its sockets, and a process may have 20,000
  /// here.
  private static final List<Integer> SESSIONS_WITH_HIVEMQ = List.of(5_000, 10_000, 18_000);

  /// The heap of each JVM, fixed and touched at the start. With only a limit, G1 returns memory
  /// after each concurrent mark, and then some rounds collect a smaller heap than others; a heap
  /// that only may not shrink is first touched in the measured rounds.
  private static final List<String> HEAP = List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch");

  private static final String HIVEMQ = "hivemq";

  private static final List<String> SERVERS = List.of(OURS, "mosquitto", "moquette", HIVEMQ);

  private static final List<Integer> TLS_SESSIONS = List.of(1_000, 4_000);
  private static final String TLS_PREFIX = "0190b8a1";
  private static final double MAX_TLS_BYTES = 8 * 1024;

  private static final int TABLE = 1_000_000;
  private static final int TABLE_HEAP_MEGABYTES = 640;

  private ConnectionsBench() {}

  public static Result measure(Run run) {
    List<String> servers = run.some("servers", String.join(",", SERVERS), SERVERS);
    List<Integer> sessions =
        ascending(
            run.numbers("sessions", servers.contains(HIVEMQ) ? SESSIONS_WITH_HIVEMQ : SESSIONS));
    if (sessions.size() == 1) {
      return ManySessions.measure(run, sessions.getFirst());
    }
    Path directory = run.ownDirectory();
    double floor = BareWrites.micros();
    double connects = BareConnects.micros();
    run.out().printf(Locale.ROOT, "bare connect: %.2f us, bare write: %.2f us%n", connects, floor);
    Map<String, SessionCosts> costs = new LinkedHashMap<>();
    for (String name : servers) {
      try {
        cost(name, run, sessions, directory).ifPresent(found -> costs.put(name, found));
      } catch (ProcessFailed | IllegalStateException e) {
        if (name.equals(OURS)) {
          throw e;
        }
        run.out().println("SKIPPED " + name + ": " + e.getMessage());
      }
    }
    List<Report.Row> rows = new ArrayList<>(SessionCosts.rows(costs, OURS));
    rows.add(
        Report.Row.of("CPU per bare write of 100 bytes to a socket, this JVM alone", "us", floor));
    rows.add(
        Report.Row.of(
            "CPU per bare connect: accepted, read and answered twice, one selector",
            "us",
            connects));
    rows.addAll(tls(run, directory));
    rows.addAll(fullTable(run, directory));
    return new Result(rows, true);
  }

  private static List<Integer> ascending(List<Integer> numbers) {
    return numbers.stream().sorted().toList();
  }

  /// Our idle sessions over TLS 1.3.
  private static List<Report.Row> tls(Run run, Path directory) {
    List<Integer> sessions = ascending(run.numbers("tls", TLS_SESSIONS));
    if (sessions.size() < 2) {
      return List.of();
    }
    TlsIdentity tls = TlsIdentity.in(directory);
    try (LocalServices services =
            LocalServices.start(ServicesChoice.AUTO, run.servers().resolve("tls"));
        ConnectionManager node =
            ConnectionManager.start(
                run.root(),
                services,
                directory,
                "bench-tls",
                HEAP,
                Map.of(
                    "cm.tls.certificate", tls.certificate().toString(),
                    "cm.tls.private-key", tls.privateKey().toString()));
        FleetProcess fleet =
            FleetProcess.startTls(
                node.tls(), TLS_PREFIX, tls.certificate(), directory.resolve("fleet-tls.log"))) {
      List<SessionMeter.Memory> memory =
          new SessionMeter(node, directory, run.out()).fill(fleet, sessions);
      double bytes = SessionMeter.Memory.slope(memory, SessionMeter.Memory::heapBytes);
      return List.of(
          Report.Row.of(
              String.format(
                  Locale.ROOT,
                  "memory per TLS 1.3 session (slope %d to %d)",
                  sessions.getFirst(),
                  sessions.getLast()),
              "bytes",
              Math.round(bytes),
              MAX_TLS_BYTES));
    }
  }

  /// More sessions than a process has descriptors, without sockets.
  private static List<Report.Row> fullTable(Run run, Path directory) {
    int sessions = run.number("table", TABLE);
    if (sessions == 0) {
      return List.of();
    }
    Optional<FullTable> table =
        FullTable.fill(run.root(), sessions, TABLE_HEAP_MEGABYTES, directory);
    if (table.isEmpty()) {
      run.out()
          .println(
              "SKIPPED the full table: its program is not among connection-manager's test classes");
      return List.of();
    }
    FullTable full = table.get();
    String what = String.format(Locale.ROOT, " (%d sessions, fake sockets)", full.sessions());
    return List.of(
        Report.Row.of("heap" + what, "MB", megabytes(full.heapBytes())),
        Report.Row.of("resident" + what, "MB", megabytes(full.residentBytes()), 1_000.0),
        Report.Row.of("peak resident" + what, "MB", megabytes(full.peakResidentBytes())),
        Report.Row.of("sweep" + what, "ms", full.sweepMicros() / 1_000.0));
  }

  private static double megabytes(long bytes) {
    return bytes / 1e6;
  }

  private static Optional<SessionCosts> cost(
      String name, Run run, List<Integer> sessions, Path directory) {
    if (name.equals(OURS)) {
      try (LocalServices services = LocalServices.start(ServicesChoice.AUTO, run.servers());
          Server server =
              ConnectionManager.start(run.root(), services, directory, "bench-1", HEAP, Map.of())) {
        return Optional.of(new SessionMeter(server, directory, run.out()).measure(sessions));
      }
    }
    Optional<Peer> peer =
        switch (name) {
          case "mosquitto" -> Peer.mosquitto(directory);
          case "moquette" -> Peer.java(run.root(), name, "MoquettePeer.java", HEAP, directory);
          case HIVEMQ -> Peer.java(run.root(), name, "HiveMqPeer.java", HEAP, directory);
          default -> throw new IllegalArgumentException("there is no server " + name);
        };
    if (peer.isEmpty()) {
      run.out()
          .println(
              "SKIPPED "
                  + name
                  + (name.equals("mosquitto")
                      ? ": not installed here (apt-get install mosquitto)"
                      : ": its artifacts could not be downloaded"));
      return Optional.empty();
    }
    try (Server server = peer.get()) {
      return Optional.of(new SessionMeter(server, directory, run.out()).measure(sessions));
    }
  }
}
