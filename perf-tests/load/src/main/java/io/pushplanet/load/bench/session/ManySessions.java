package io.pushplanet.load.bench.session;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.Edge;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.Gateway;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/// More real sessions than a process has descriptors, over several nodes of one machine: do all get
/// in, does each get its message and each broadcast, is any lost in a quiet time?
final class ManySessions {
  private final Run run;
  private final Edge edge;
  private final int perNode;
  private final List<Report.Row> rows = new ArrayList<>();

  private ManySessions(Run run, Edge edge, int perNode) {
    this.run = run;
    this.edge = edge;
    this.perNode = perNode;
  }

  static Result measure(Run run, int sessions) {
    int nodes = Math.ceilDiv(sessions, Edge.SESSIONS_PER_NODE);
    Path directory = run.ownDirectory();
    try (LocalServices services = LocalServices.start(ServicesChoice.AUTO, run.servers());
        Edge edge = Edge.start(run.root(), services, directory, nodes)) {
      return new ManySessions(run, edge, Math.ceilDiv(sessions, nodes)).measure();
    }
  }

  private Result measure() {
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
    lost += broadcast(1, 2L * wanted);
    long resubscribed =
        edge.all(member -> member.fleet().subscribe(0)).stream().mapToLong(n -> n).sum();
    goal("subscribed anew, at QoS 0", "sessions", resubscribed, wanted);
    lost += broadcast(0, 3L * wanted);
    // A duplicate may have come last.
    LockSupport.parkNanos(run.measured().toNanos());
    FleetCounts end = edge.counts();
    goal("messages that a session got twice running", "messages", end.repeated(), 0);
    goal("handshakes that failed", "sessions", end.refused(), 0);
    goal("connections that were lost", "sessions", end.cuts(), 0);
    goal("sessions at the end", "sessions", end.ready(), wanted);
    boolean balances =
        lost == 0
            && end.repeated() == 0
            && resubscribed == wanted
            && end.refused() == 0
            && end.cuts() == 0
            && end.ready() == wanted;
    return new Result(rows, balances);
  }

  /// A quiet time.
  private void hold(int sessions) {
    LockSupport.parkNanos(run.measured().toNanos());
    List<Usage> before = usages();
    LockSupport.parkNanos(run.measured().toNanos());
    List<Usage> after = usages();
    long nanos = 0;
    for (int node = 0; node < before.size(); node++) {
      nanos += after.get(node).nanosSince(before.get(node));
    }
    row(
        String.format(Locale.ROOT, "CPU of all nodes while %,d sessions are idle", sessions),
        "% of a core",
        100.0 * nanos / run.measured().toNanos());
  }

  /// One message to all devices, to all nodes at once.
  ///
  /// @param wanted how many messages all devices together have got then
  /// @return messages that did not arrive, or whose arrival a node did not report
  private long broadcast(int qos, long wanted) {
    List<Gateway> gateways = new ArrayList<>();
    try {
      edge.members().forEach(member -> gateways.add(member.node().gateway()));
      long start = System.nanoTime();
      for (int member = 0; member < gateways.size(); member++) {
        gateways.get(member).broadcast(edge.members().get(member).devices(perNode));
      }
      long received = 0;
      for (Edge.Member member : edge.members()) {
        received += member.fleet().awaitReceived(wanted / edge.members().size());
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      gateways.forEach(Gateway::awaitBroadcasts);
      long told = gateways.stream().mapToLong(Gateway::delivered).sum();
      long sessions = (long) perNode * edge.members().size();
      String what = "one broadcast to all at QoS " + qos;
      goal(what + ", received", "messages", received - wanted + sessions, sessions);
      goal(what + ", told delivered", "messages", told, sessions);
      row(what + ", the last device has it after", "s", seconds);
      return Math.abs(wanted - received) + Math.abs(sessions - told);
    } finally {
      gateways.forEach(Gateway::close);
    }
  }

  /// @return messages that did not arrive, or whose arrival the node did not report
  private long tell() {
    long wanted = (long) perNode * edge.members().size();
    long start = System.nanoTime();
    long told =
        edge
            .all(member -> {
              try (Gateway gateway = member.node().gateway()) {
                gateway.send(member.devices(perNode));
                member.fleet().awaitReceived(perNode);
                gateway.awaitOutcomes(perNode);
                return gateway.delivered();
              }
            })
            .stream()
            .mapToLong(Long::longValue)
            .sum();
    double seconds = (System.nanoTime() - start) / 1e9;
    long received = edge.counts().received();
    goal("messages at QoS 1, received", "messages", received, wanted);
    goal("messages at QoS 1, acknowledged and told", "messages", told, wanted);
    row(
        "messages per second, " + Edge.FLEETS_AT_ONCE + " nodes at a time",
        "messages/s",
        received / seconds);
    return Math.abs(wanted - received) + Math.abs(wanted - told);
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
    add(Report.Row.of(metric, unit, value, goal));
  }

  private void add(Report.Row row) {
    rows.add(row);
    run.out()
        .println(String.format(Locale.ROOT, "%s: %,.2f %s", row.metric(), row.value(), row.unit()));
  }
}
