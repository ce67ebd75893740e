package io.pushplanet.load.bench;

import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.node.Edge;
import io.pushplanet.load.node.Gateway;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/// More real sessions than a process has descriptors for, over several nodes of one machine: do all get in, does each get
/// its message, is any lost while nothing happens?
final class ManySessions {
  private static final int MESSAGES = 2;

  private final Run run;
  private final Edge edge;
  private final int perNode;
  private final List<Report.Row> rows = new ArrayList<>();

  private ManySessions(Run run, Edge edge, int perNode) {
    this.run = run;
    this.edge = edge;
    this.perNode = perNode;
  }

  static Benchmark.Result measure(Run run, int sessions) {
    int nodes = Math.ceilDiv(sessions, Edge.SESSIONS_PER_NODE);
    Path directory = run.directory().resolve(run.name());
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to " + directory, e);
    }
    try (LocalServices services =
            LocalServices.start(ServicesChoice.AUTO, directory.resolve("services"));
        Edge edge = Edge.start(run.root(), services, directory, nodes)) {
      return new ManySessions(run, edge, Math.ceilDiv(sessions, nodes)).measure();
    }
  }

  private Benchmark.Result measure() {
    int wanted = perNode * edge.members().size();
    row("nodes, a process each", "processes", edge.members().size());
    long residentBefore = resident();
    long start = System.nanoTime();
    int connected = edge.connect(perNode, 1);
    double seconds = (System.nanoTime() - start) / 1e9;
    goal("sessions, authenticated and subscribed", "sessions", connected, wanted);
    row("connected within", "s", seconds);
    row("resident, all nodes together", "MB", resident() / 1e6);
    row("resident per session", "bytes", 1.0 * (resident() - residentBefore) / connected);
    hold(connected);
    long lost = tell();
    FleetCounts end = edge.counts();
    goal("handshakes that failed", "sessions", end.refused(), 0);
    goal("connections that were lost", "sessions", end.cuts(), 0);
    goal("sessions at the end", "sessions", end.ready(), wanted);
    boolean balances = lost == 0 && end.refused() == 0 && end.cuts() == 0 && end.ready() == wanted;
    return new Benchmark.Result(rows, balances);
  }

  /// Nothing happens for a time.
  private void hold(int sessions) {
    LockSupport.parkNanos(run.each().toNanos());
    List<Usage> before = usages();
    LockSupport.parkNanos(run.each().toNanos());
    List<Usage> after = usages();
    long nanos = 0;
    for (int node = 0; node < before.size(); node++) {
      nanos += after.get(node).nanosSince(before.get(node));
    }
    row(
        String.format(Locale.ROOT, "CPU of all nodes while %,d sessions are idle", sessions),
        "% of a core",
        100.0 * nanos / run.each().toNanos());
  }

  /// @return messages that did not arrive, or of which the node did not say so
  private long tell() {
    long wanted = (long) MESSAGES * perNode * edge.members().size();
    long start = System.nanoTime();
    List<Long> delivered =
        edge.all(member -> {
          try (Gateway gateway = member.node().gateway()) {
            for (long message = 1; message <= MESSAGES; message++) {
              gateway.send(member.devices(perNode));
              member.fleet().awaitReceived(message * perNode);
              gateway.awaitOutcomes(message * perNode);
            }
            return gateway.delivered();
          }
        });
    double seconds = (System.nanoTime() - start) / 1e9;
    long told = delivered.stream().mapToLong(Long::longValue).sum();
    long received = edge.counts().received();
    goal("messages at QoS 1, received", "messages", received, wanted);
    goal("messages at QoS 1, acknowledged and told", "messages", told, wanted);
    row("messages per second, four nodes at a time", "messages/s", received / seconds);
    return Math.max(0, wanted - Math.min(received, told));
  }

  private List<Usage> usages() {
    return edge.members().stream().map(member -> Usage.of(member.node().pid())).toList();
  }

  private long resident() {
    return usages().stream().mapToLong(Usage::residentBytes).sum();
  }

  private void row(String metric, String unit, double value) {
    add(Report.Row.of(metric, unit, value));
  }

  private void goal(String metric, String unit, long value, long goal) {
    add(new Report.Row(metric, unit, value, null, (double) goal));
  }

  private void add(Report.Row row) {
    rows.add(row);
    run.out()
        .println(String.format(Locale.ROOT, "%s: %,.2f %s", row.metric(), row.value(), row.unit()));
  }
}
