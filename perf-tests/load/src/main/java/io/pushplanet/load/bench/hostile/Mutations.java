package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.hostile.NeighbourWatch.Meanwhile;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.measure.Neighbours.P99;
import io.pushplanet.load.node.ConnectionManager;
import java.time.Duration;

/// Mutated packets at a listener: at a set rate, and as many as requested as fast as possible. For
/// one thread.
final class Mutations {
  private static final int PACED_THREADS = 4;

  /// Most connects wait for the node, which collects log-ins before it asks Redis.
  private static final int THREADS = 32;

  private static final Duration UNTIL_ALL_ARE_SENT = Duration.ofHours(1);

  private final Scene scene;
  private final Findings findings;
  private final NeighbourWatch neighbours;

  Mutations(Scene scene) {
    this.scene = scene;
    this.findings = scene.findings();
    this.neighbours = scene.neighbours();
  }

  /// At a rate that leaves enough processor time for both.
  void paced(Door door, double rate) {
    String name = door.text() + ", paced";
    var learning = new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, scene.warmUp());
    neighbours.tellWhileLearning(name, mutate(scene.node(), door, learning).p99());
    mutate(scene.beside(), door, learning);
    P99 calm = neighbours.calm("right before " + name);
    var plan = new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, scene.run().each());
    P99 elsewhere = mutate(scene.beside(), door, plan).p99();
    Meanwhile<AttackCounts> seen = mutate(scene.node(), door, plan);
    findings.row(
        name + ": mutated packets a second",
        "1/s",
        seen.attack().packets() / (double) scene.run().each().toSeconds());
    unanswered(name, seen.attack());
    neighbours.tellNotTwice(name, seen.p99(), calm, elsewhere);
  }

  void flatOut(Door door, long packets) {
    double before = readBytes();
    long start = System.nanoTime();
    Meanwhile<AttackCounts> seen =
        mutate(scene.node(), door, new AttackPlan(packets, THREADS, 0, UNTIL_ALL_ARE_SENT));
    double seconds = (System.nanoTime() - start) / 1e9;
    AttackCounts counts = seen.attack();
    String name = door.text();
    findings.row(name + ": mutated packets sent", "packets", counts.packets(), packets);
    findings.require(counts.packets() >= packets);
    findings.row(name + ": on so many connections", "connections", counts.connections());
    findings.row(name + ": rate", "packets/s", counts.packets() / seconds);
    findings.row(name + ": read by the node before it refused", "MB", (readBytes() - before) / 1e6);
    neighbours.tell(name + ": neighbours' p99 (attackers on the same processors)", seen.p99());
    unanswered(name, counts);
    scene
        .run()
        .say(
            "%s: %,d packets on %,d connections in %.0f s",
            name, counts.packets(), counts.connections(), seconds);
  }

  private Meanwhile<AttackCounts> mutate(ConnectionManager target, Door door, AttackPlan plan) {
    return neighbours.during(
        () -> scene.attackers().mutate(door, target.listener(door.text()), plan));
  }

  private double readBytes() {
    return scene.node().meter("cm_transport_bytes_total", "read");
  }

  private void unanswered(String name, AttackCounts counts) {
    findings.none(
        name + ": connections neither answered nor closed", "connections", counts.unanswered());
  }
}
