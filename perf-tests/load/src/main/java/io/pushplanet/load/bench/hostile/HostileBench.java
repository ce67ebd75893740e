package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.AttackProcess;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.measure.Neighbours;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.platform.TlsIdentity;
import io.pushplanet.quickstart.process.Jvm;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// Hostile clients at every kind of listener of one node, while a gateway delivers to well-behaved
/// devices: mutated packets at a set rate, and then as many as requested as fast as possible;
/// sockets that never finish their first packet; headers that declare 268 MB.
///
/// The attackers run on the node's own machine, in a low-priority process: they stand for other
/// machines, which would not share its processors. At full speed their effect on the neighbours is
/// therefore the machine's, and only at the set rate is it the node's. The goals are for a warm
/// node; the effect of the first attack of each kind is reported beside it. The same attack on a
/// second node, which does not serve the neighbours, tells how much of their milliseconds comes
/// from the machine even then.
public final class HostileBench {
  private static final String CALM = "0190ca12";
  private static final int CALM_DEVICES = 100;
  private static final int PACED_THREADS = 4;

  /// Most connects wait for the node, which collects log-ins before it asks Redis.
  private static final int THREADS = 32;

  private static final int DECLARATIONS = 200;
  private static final String HEAP = "512m";
  private static final int WARM_UP_SECONDS = 30;
  private static final Duration UNTIL_ALL_ARE_SENT = Duration.ofHours(1);

  /// The number of additional sockets, because the node closes each after five seconds and it must
  /// be opened again.
  private static final double SPARE = 0.1;

  private final Run run;
  private final ConnectionManager node;
  private final ConnectionManager beside;
  private final Neighbours neighbours;
  private final AttackProcess attackers;
  private final Duration warmUp;
  private final List<Report.Row> rows = new ArrayList<>();
  private boolean held = true;

  private HostileBench(
      Run run,
      ConnectionManager node,
      ConnectionManager beside,
      Neighbours neighbours,
      AttackProcess attackers,
      Duration warmUp) {
    this.run = run;
    this.warmUp = warmUp;
    this.node = node;
    this.beside = beside;
    this.neighbours = neighbours;
    this.attackers = attackers;
  }

  /// @param attack the report of the attackers, or of their observers
  /// @param p99 of the neighbours meanwhile
  private record Meanwhile<T>(T attack, Neighbours.P99 p99) {}

  public static Result measure(Run run) {
    long packets = run.longNumber("packets", 1_000_000);
    int slow = run.number("slowloris", 5_000);
    int pipeline = run.number("pipeline", 64);
    boolean spare = run.isSpare("attackers");
    double rate = run.decimal("rate", 100);
    List<Door> doors =
        run.option("doors")
            .map(names -> Arrays.stream(names.split(",")).map(Door::named).toList())
            .orElse(List.of(Door.values()));
    var warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    long seed = run.longNumber("seed", run.clock().millis());
    run.out().println("seed " + seed);
    Path directory = run.ownDirectory();
    TlsIdentity tls = TlsIdentity.in(directory);
    try (LocalServices services = LocalServices.start(ServicesChoice.AUTO, run.servers());
        AttackProcess attackers =
            AttackProcess.start(spare, pipeline, seed, directory.resolve("attackers.log"))) {
      try (ConnectionManager node = node(run, services, directory, "hostile-1", tls);
          ConnectionManager beside = node(run, services, directory, "hostile-2", tls);
          FleetProcess calm = FleetProcess.start(node, CALM, directory.resolve("calm.log"));
          var gateway = node.gateway()) {
        calm.connect(CALM_DEVICES, 1);
        var neighbours = new Neighbours(gateway, CALM, CALM_DEVICES);
        return new HostileBench(run, node, beside, neighbours, attackers, warmUp)
            .measure(doors, packets, slow, rate);
      }
    }
  }

  private static ConnectionManager node(
      Run run, LocalServices services, Path directory, String nodeId, TlsIdentity tls) {
    return ConnectionManager.start(
        run.root(),
        services,
        directory,
        nodeId,
        // As the node's README advises, because a small growing heap has pauses of its own.
        List.of("-Xms" + HEAP, "-Xmx" + HEAP),
        Map.of(
            "cm.tls.certificate", tls.certificate().toString(),
            "cm.tls.private-key", tls.privateKey().toString(),
            "cm.ws-port", "0",
            "cm.wss-port", "0",
            "cm.admission.connects-per-second", "0"));
  }

  private Result measure(List<Door> doors, long packets, int slow, double rate) {
    row(
        "attackers get only the processor time that is left over (1; they stand for other machines) or as much as others (0)",
        "",
        attackers.isSpare() ? 1 : 0);
    neighbours.deliver(warmUp);
    long before = live();
    long resident = 0;
    calm("nobody else there");
    doors.forEach(door -> paced(door, rate));
    slowly(slow);
    doors.forEach(this::declare);
    for (Door door : doors) {
      flatOut(door, packets);
      resident = Math.max(resident, Usage.of(node.pid()).residentBytes());
    }
    calm("when all is over");
    row("live heap and direct memory before", "MB", before / 1e6);
    row("live heap and direct memory after", "MB", live() / 1e6);
    row("resident, at most (heap of " + HEAP + ")", "MB", resident / 1e6);
    none("unauthenticated bytes when all is over", "bytes", quietBytes());
    none("errors of event loops", "", node.meter("cm_transport_loop_errors_total", ""));
    none(
        "connections closed by an error of ours",
        "",
        node.meter("cm_transport_closed_total", "cause=\"error\""));
    return new Result(rows, held);
  }

  /// The neighbours' p99 without an attack.
  private Neighbours.P99 calm(String when) {
    Neighbours.P99 p99 = Neighbours.P99.of(neighbours.deliver(run.each()));
    tell("neighbours' p99, " + when, p99);
    return p99;
  }

  private void tell(String metric, Neighbours.P99 p99) {
    row(metric, "ms", p99.usual());
    row(metric + ", over all", "ms", p99.overall());
    row(metric + ", the longest delivery", "ms", p99.longest());
  }

  private <T> Meanwhile<T> meanwhile(Supplier<T> attack) {
    CompletableFuture<T> attacking = CompletableFuture.supplyAsync(attack);
    List<Long> took = neighbours.deliver(() -> !attacking.isDone());
    return new Meanwhile<>(attacking.join(), Neighbours.P99.of(took));
  }

  /// A p99 that may be twice that of the minute before: the machine's own p99 differs more from
  /// hour to hour.
  ///
  /// @param elsewhere during the attack on the second node
  private void notTwice(
      String what, Neighbours.P99 p99, Neighbours.P99 calm, Neighbours.P99 elsewhere) {
    row(
        what + ": neighbours' p99 meanwhile (goal: twice that of right before)",
        "ms",
        p99.usual(),
        2 * calm.usual());
    row(
        what + ": the same over all (goal: twice that of right before)",
        "ms",
        p99.overall(),
        2 * calm.overall());
    row(what + ": the longest delivery meanwhile", "ms", p99.longest());
    tell(what + ": the same at a second node: neighbours' p99 meanwhile", elsewhere);
    run.say(
        "%s: neighbours' p99 %.2f ms, right before %.2f ms, with the attack on a second node %.2f ms",
        what, p99.usual(), calm.usual(), elsewhere.usual());
  }

  /// At a rate that leaves enough processor time for both.
  private void paced(Door door, double rate) {
    String name = door.text() + ", paced";
    Meanwhile<AttackCounts> first =
        mutate(node, door, new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, warmUp));
    whileLearning(name, first);
    mutate(beside, door, new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, warmUp));
    Neighbours.P99 calm = calm("right before " + name);
    var plan = new AttackPlan(Long.MAX_VALUE, PACED_THREADS, rate, run.each());
    Neighbours.P99 elsewhere = mutate(beside, door, plan).p99();
    Meanwhile<AttackCounts> seen = mutate(node, door, plan);
    row(
        name + ": mutated packets a second",
        "1/s",
        seen.attack().packets() / (double) run.each().toSeconds());
    unanswered(name, seen.attack());
    notTwice(name, seen.p99(), calm, elsewhere);
  }

  /// A node that was never attacked in this way first interprets the code that refuses it, and
  /// compiles it.
  private void whileLearning(String name, Meanwhile<?> first) {
    tell(name + ": neighbours' p99 in the first " + warmUp.toSeconds() + " s ever", first.p99());
  }

  private Meanwhile<AttackCounts> mutate(ConnectionManager target, Door door, AttackPlan plan) {
    return meanwhile(() -> attackers.mutate(door, target.listener(door.text()), plan));
  }

  private void unanswered(String name, AttackCounts counts) {
    none(name + ": connections neither answered nor closed", "connections", counts.unanswered());
  }

  private void flatOut(Door door, long packets) {
    double read = node.meter("cm_transport_bytes_total", "read");
    long start = System.nanoTime();
    Meanwhile<AttackCounts> seen =
        mutate(node, door, new AttackPlan(packets, THREADS, 0, UNTIL_ALL_ARE_SENT));
    double seconds = (System.nanoTime() - start) / 1e9;
    AttackCounts counts = seen.attack();
    String name = door.text();
    row(name + ": mutated packets sent", "packets", counts.packets(), packets);
    held &= counts.packets() >= packets;
    row(name + ": on so many connections", "connections", counts.connections());
    row(name + ": rate", "packets/s", counts.packets() / seconds);
    row(
        name + ": read by the node before it refused",
        "MB",
        (node.meter("cm_transport_bytes_total", "read") - read) / 1e6);
    tell(name + ": neighbours' p99 (attackers on the same processors)", seen.p99());
    unanswered(name, counts);
    run.say(
        "%s: %,d packets on %,d connections in %.0f s",
        name, counts.packets(), counts.connections(), seconds);
  }

  private void slowly(int count) {
    int sockets = (int) (count * (1 + SPARE));
    Neighbours.P99 elsewhere = held(beside, sockets, _ -> {}).p99();
    attackers.letGo();
    Neighbours.P99 calm = calm("right before slowloris");
    Meanwhile<Standing> seen = held(node, sockets, first -> whileLearning("slowloris", first));
    Standing standing = seen.attack();
    held &= standing.average() >= count;
    row(
        "slowloris: of " + sockets + " sockets stood at the node, on average",
        "connections",
        standing.average(),
        count);
    // The node closes a second's sockets together, and accepts their replacements a few at a time.
    row("slowloris: and at least", "connections", standing.least());
    row("slowloris: opened in all", "connections", attackers.letGo());
    row("slowloris: unauthenticated bytes held, at most", "KB", standing.mostBytes() / 1e3);
    run.say("slowloris: %,d held", standing.average());
    notTwice("slowloris", seen.p99(), calm, elsewhere);
  }

  /// Sockets that stay open at a node, measured after the warm-up.
  private Meanwhile<Standing> held(
      ConnectionManager target, int sockets, Consumer<Meanwhile<Standing>> whileWarmingUp) {
    int others = connections(target);
    meanwhile(() -> attackers.hold(sockets, target.listener("mqtt"), target.listener("tls")));
    whileWarmingUp.accept(meanwhile(() -> watch(target, others, warmUp)));
    return meanwhile(() -> watch(target, others, run.each()));
  }

  private record Standing(int least, int average, int mostBytes) {}

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

  private void declare(Door door) {
    int refused = attackers.declare(door, node.listener(door.text()), DECLARATIONS);
    held &= refused == DECLARATIONS;
    row(door.text() + ": 268 MB declared and refused", "connections", refused, DECLARATIONS);
    long bytes = node.page().path("unauthenticated_bytes").asLong(0);
    run.say("%s: %d of %d refused, %,d bytes held", door.text(), refused, DECLARATIONS, bytes);
  }

  /// Peers that are still closing hold some of it for a moment.
  private long quietBytes() {
    long bytes = Long.MAX_VALUE;
    for (int look = 0; look < 100 && bytes > 0; look++) {
      bytes = node.page().path("unauthenticated_bytes").asLong(Long.MAX_VALUE);
      sleep();
    }
    return bytes;
  }

  private static void sleep() {
    LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
  }

  private long live() {
    try (Jvm jvm = Jvm.attach(node.pid())) {
      return jvm.liveBytes() + jvm.directBytes();
    }
  }

  private void row(String metric, String unit, double value) {
    rows.add(Report.Row.of(metric, unit, value));
  }

  private void row(String metric, String unit, double value, double goal) {
    rows.add(Report.Row.of(metric, unit, value, goal));
  }

  private void none(String metric, String unit, double value) {
    held &= value == 0;
    row(metric, unit, value, 0);
  }
}
