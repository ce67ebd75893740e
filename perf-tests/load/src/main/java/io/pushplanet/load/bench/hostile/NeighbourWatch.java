package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.FleetCounts;
import io.pushplanet.load.measure.Neighbours;
import io.pushplanet.load.measure.Neighbours.P99;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// What the well-behaved devices of a node feel before, during and after an attack. For one thread.
final class NeighbourWatch {
  private final Run run;
  private final Findings findings;
  private final Neighbours neighbours;
  private final FleetProcess calm;
  private final Duration warmUp;

  /// @param attack the report of the attackers, or of their observers
  /// @param p99 of the neighbours meanwhile
  record Meanwhile<T>(T attack, P99 p99) {}

  /// @param calm their connections
  NeighbourWatch(
      Run run, Findings findings, Neighbours neighbours, FleetProcess calm, Duration warmUp) {
    this.run = run;
    this.findings = findings;
    this.neighbours = neighbours;
    this.calm = calm;
    this.warmUp = warmUp;
  }

  /// Delivers to them until their way is warm.
  void warmUp() {
    neighbours.deliver(warmUp);
  }

  /// Their p99 without an attack.
  P99 calm(String when) {
    P99 p99 = P99.of(neighbours.deliver(run.measured()));
    tell("neighbours' p99, " + when, p99);
    return p99;
  }

  /// Their p99 until an attack has ended.
  <T> Meanwhile<T> during(Supplier<T> attack) {
    CompletableFuture<T> attacking = CompletableFuture.supplyAsync(attack);
    List<Long> took = neighbours.deliver(() -> !attacking.isDone());
    return new Meanwhile<>(attacking.join(), P99.of(took));
  }

  void tell(String metric, P99 p99) {
    findings.row(metric, "ms", p99.usual());
    findings.row(metric + ", over all", "ms", p99.overall());
    findings.row(metric + ", the longest delivery", "ms", p99.longest());
  }

  /// The same beside that of right before.
  void tell(String metric, P99 p99, P99 calm) {
    tell(metric, p99);
    findings.row(
        metric + ", times that of right before", "times", times(p99.usual(), calm.usual()));
    findings.row(
        metric + ", over all, times that of right before",
        "times",
        times(p99.overall(), calm.overall()));
  }

  private static double times(double meanwhile, double before) {
    return before == 0 ? 0 : meanwhile / before;
  }

  /// A node that was never attacked in this way first interprets the code that refuses it, and
  /// compiles it.
  void tellWhileLearning(String attack, P99 first) {
    tell(attack + ": neighbours' p99 in the first " + warmUp.toSeconds() + " s ever", first);
  }

  /// A p99 that may be twice that of the minute before: the machine's own p99 differs more from
  /// hour to hour.
  ///
  /// @param elsewhere during the attack on the second node
  void tellNotTwice(String attack, P99 p99, P99 calm, P99 elsewhere) {
    findings.row(
        attack + ": neighbours' p99 meanwhile (goal: twice that of right before)",
        "ms",
        p99.usual(),
        2 * calm.usual());
    findings.row(
        attack + ": the same over all (goal: twice that of right before)",
        "ms",
        p99.overall(),
        2 * calm.overall());
    findings.row(attack + ": the longest delivery meanwhile", "ms", p99.longest());
    tell(attack + ": the same at a second node: neighbours' p99 meanwhile", elsewhere);
    run.say(
        "%s: neighbours' p99 %.2f ms, right before %.2f ms, with the attack on a second node %.2f ms",
        attack, p99.usual(), calm.usual(), elsewhere.usual());
  }

  /// An attack may not cost them a message or a connection.
  void tellLosses() {
    FleetCounts counts = calm.counts();
    findings.none(
        "messages to neighbours that were not delivered once",
        "messages",
        neighbours.missed(counts));
    findings.none("neighbours' connections that were cut", "connections", counts.cuts());
  }
}
