package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.hostile.NeighbourWatch.Meanwhile;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.measure.Neighbours.P99;
import io.pushplanet.load.node.ConnectionManager;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// Sockets at every listener that never finish their first packet, handshake or upgrade: how many a
/// node holds open, and what they cost it. For one thread.
final class SlowSockets {
  /// The number of additional sockets, because the node closes each after five seconds and it must
  /// be opened again.
  private static final double SPARE = 0.1;

  private final Scene scene;
  private final Findings findings;
  private final NeighbourWatch neighbours;

  /// Looks at a node's page, one a second.
  ///
  /// @param mostBytes unauthenticated
  private record Standing(int least, int average, int mostBytes) {}

  SlowSockets(Scene scene) {
    this.scene = scene;
    this.findings = scene.findings();
    this.neighbours = scene.neighbours();
  }

  void hold(int count) {
    int sockets = (int) (count * (1 + SPARE));
    P99 elsewhere = hold(scene.beside(), sockets, _ -> {}).p99();
    scene.attackers().letGo();
    P99 calm = neighbours.calm("right before slowloris");
    Meanwhile<Standing> seen =
        hold(scene.node(), sockets, first -> neighbours.tellWhileLearning("slowloris", first));
    Standing standing = seen.attack();
    findings.require(standing.average() >= count);
    findings.row(
        "slowloris: of " + sockets + " sockets over all listeners stood at the node, on average",
        "connections",
        standing.average(),
        count);
    // The node closes a second's sockets together, and accepts their replacements a few at a time.
    findings.row("slowloris: and at least", "connections", standing.least());
    findings.row("slowloris: opened in all", "connections", scene.attackers().letGo());
    findings.row(
        "slowloris: unauthenticated bytes held, at most", "KB", standing.mostBytes() / 1e3);
    scene.run().say("slowloris: %,d held", standing.average());
    neighbours.tellNotTwice("slowloris", seen.p99(), calm, elsewhere);
  }

  /// Sockets that stay open at a node, measured after the warm-up.
  private Meanwhile<Standing> hold(
      ConnectionManager target, int sockets, Consumer<P99> whileWarmingUp) {
    int others = connections(target);
    neighbours.during(() -> scene.attackers().hold(sockets, listeners(target)));
    whileWarmingUp.accept(neighbours.during(() -> watch(target, others, scene.warmUp())).p99());
    return neighbours.during(() -> watch(target, others, scene.run().measured()));
  }

  private static Map<Door, InetSocketAddress> listeners(ConnectionManager target) {
    Map<Door, InetSocketAddress> listeners = new EnumMap<>(Door.class);
    for (Door door : Door.values()) {
      listeners.put(door, target.listener(door.text()));
    }
    return listeners;
  }

  private static Standing watch(ConnectionManager target, int others, Duration length) {
    long end = System.nanoTime() + length.toNanos();
    int least = Integer.MAX_VALUE;
    int bytes = 0;
    long sum = 0;
    int looks = 0;
    while (System.nanoTime() - end < 0) {
      var page = target.page();
      int now = page.path("connections").asInt() - others;
      least = Math.min(least, now);
      sum += now;
      looks++;
      bytes = Math.max(bytes, page.path("unauthenticated_bytes").asInt(0));
      // The node takes a millisecond or two for the page: ten per second would be the neighbours'
      // p99.
      LockSupport.parkNanos(Duration.ofSeconds(1).toNanos());
    }
    return new Standing(least, (int) (sum / Math.max(1, looks)), bytes);
  }

  private static int connections(ConnectionManager target) {
    return target.page().path("connections").asInt();
  }
}
