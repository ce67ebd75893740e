package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.hostile.NeighbourWatch.Meanwhile;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.measure.Neighbours.P99;
import io.pushplanet.load.node.ConnectionManager;
import java.time.Duration;

/// Mutated packets at a listener: at a set rate, and as fast as possible until the node has decoded
/// or refused as many as requested. For one thread.
final class Mutations {
  private static final int PACED_THREADS = 4;

  /// Most connects wait for the node, which collects log-ins before it asks Redis.
  private static final int THREADS = 32;

  private static final Duration UNTIL_ALL_ARE_JUDGED = Duration.ofHours(1);

  /// A line of progress for each part.
  private static final int PARTS = 20;

  private static final long SMALLEST_PART = 50_000;

  private final Scene scene;
  private final Findings findings;
  private final NeighbourWatch neighbours;

  Mutations(Scene scene) {
    this.scene = scene;
    this.findings = scene.findings();
    this.neighbours = scene.neighbours();
  }

  /// Teaches both nodes the attack: their compilers need some ten thousand connections, and take
  /// the processors from the neighbours meanwhile.
  void learn(Door door, double rate) {
    scene
        .run()
        .say("%s: attacks to warm up, for %d s", door.text(), 3 * scene.warmUp().toSeconds());
    var first = new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, scene.warmUp());
    neighbours.tellWhileLearning(door.text() + ", paced", mutate(scene.node(), door, first).p99());
    var flatOut = new AttackPlan(Long.MAX_VALUE, THREADS, 0, scene.warmUp());
    mutate(scene.node(), door, flatOut);
    mutate(scene.beside(), door, flatOut);
  }

  /// At a rate that leaves enough processor time for both.
  void paced(Door door, double rate) {
    String name = door.text() + ", paced";
    P99 calm = neighbours.calm("right before " + name);
    var plan = new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, scene.run().measured());
    Meanwhile<AttackCounts> elsewhere = mutate(scene.beside(), door, plan);
    Meanwhile<AttackCounts> seen = mutate(scene.node(), door, plan);
    findings.require(elsewhere.attack().judged() > 0 && seen.attack().judged() > 0);
    findings.row(
        name + ": mutated packets decoded or refused a second",
        "1/s",
        seen.attack().judged() / (double) scene.run().measured().toSeconds());
    unanswered(name, seen.attack());
    neighbours.tellNotTwice(name, seen.p99(), calm, elsewhere.p99());
  }

  /// As fast as possible. What the neighbours feel is the machine's part as well, so it has no
  /// goal.
  void flatOut(Door door, long packets) {
    String name = door.text();
    P99 calm = neighbours.calm("right before " + name + ", flat out");
    double bytes = readBytes();
    double refused = refusals(door);
    long start = System.nanoTime();
    Meanwhile<AttackCounts> seen = neighbours.during(() -> inParts(door, packets, start));
    double seconds = (System.nanoTime() - start) / 1e9;
    AttackCounts counts = seen.attack();
    findings.row(name + ": mutated packets handed over", "packets", counts.packets());
    findings.row(
        name + ": mutated packets that the node decoded or refused",
        "packets",
        counts.judged(),
        packets);
    findings.require(counts.judged() >= packets);
    findings.row(name + ": refusals by the node's own count", "packets", refusals(door) - refused);
    findings.row(name + ": on so many connections", "connections", counts.connections());
    findings.row(name + ": rate", "packets/s", counts.judged() / seconds);
    findings.row(name + ": read by the node", "MB", (readBytes() - bytes) / 1e6);
    neighbours.tell(
        name + ": neighbours' p99 (attackers on the same processors)", seen.p99(), calm);
    unanswered(name, counts);
  }

  private AttackCounts inParts(Door door, long packets, long startNanos) {
    AttackCounts all = AttackCounts.NONE;
    long part = Math.max(SMALLEST_PART, packets / PARTS);
    while (all.judged() < packets) {
      Duration left = UNTIL_ALL_ARE_JUDGED.minusNanos(System.nanoTime() - startNanos);
      AttackCounts more =
          attack(
              scene.node(),
              door,
              new AttackPlan(Math.min(part, packets - all.judged()), THREADS, 0, left));
      if (more.judged() == 0) {
        return all.plus(more);
      }
      all = all.plus(more);
      scene
          .run()
          .say(
              "%s: %,d of %,d packets handed over were decoded or refused, on %,d connections in %.0f s",
              door.text(),
              all.judged(),
              all.packets(),
              all.connections(),
              (System.nanoTime() - startNanos) / 1e9);
    }
    return all;
  }

  /// Of packets, and of what decoded ones ask for: logins, topics, payloads.
  private double refusals(Door door) {
    ConnectionManager node = scene.node();
    return door == Door.GATEWAY
        ? node.meter("cm_delivery_violations_total", "")
            + node.meter("cm_delivery_gateways_refused_total", "")
            + node.meter("cm_delivery_frames_malformed_total", "")
        : node.meter("cm_admission_refused_total", "");
  }

  private AttackCounts attack(ConnectionManager target, Door door, AttackPlan plan) {
    return scene.attackers().mutate(door, target.listener(door.text()), plan);
  }

  private Meanwhile<AttackCounts> mutate(ConnectionManager target, Door door, AttackPlan plan) {
    return neighbours.during(() -> attack(target, door, plan));
  }

  private double readBytes() {
    return scene.node().meter("cm_transport_bytes_total", "read");
  }

  private void unanswered(String name, AttackCounts counts) {
    findings.none(
        name + ": connections neither answered nor closed", "connections", counts.unanswered());
  }
}
