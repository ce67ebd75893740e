package io.pushplanet.load.bench.hostile;

import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.AttackProcess;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.measure.Neighbours;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.platform.TlsIdentity;
import io.pushplanet.quickstart.process.Jvm;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/// Hostile clients at every kind of listener of one node, while a gateway delivers to well-behaved
/// devices: mutated packets at a set rate, and then as fast as possible until the node has decoded
/// or refused as many as requested; sockets that never finish their first packet; headers that
/// declare 268 MB.
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
  private static final int DECLARATIONS = 200;
  private static final String HEAP = "512m";
  private static final int WARM_UP_SECONDS = 30;

  private final Scene scene;
  private final Findings findings;
  private final NeighbourWatch neighbours;
  private final Mutations mutations;
  private final SlowSockets slowSockets;

  /// @param packets decoded or refused at full speed, at each listener
  /// @param slow sockets held open, over all listeners
  /// @param rate connections a second where the neighbours are compared
  private record Plan(List<Door> doors, long packets, int slow, double rate) {}

  private HostileBench(Scene scene) {
    this.scene = scene;
    this.findings = scene.findings();
    this.neighbours = scene.neighbours();
    mutations = new Mutations(scene);
    slowSockets = new SlowSockets(scene);
  }

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
        Findings findings = new Findings();
        NeighbourWatch neighbours =
            new NeighbourWatch(
                run, findings, new Neighbours(gateway, CALM, CALM_DEVICES), calm, warmUp);
        return new HostileBench(
                new Scene(run, findings, node, beside, attackers, neighbours, warmUp))
            .measure(new Plan(doors, packets, slow, rate));
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

  private Result measure(Plan plan) {
    ConnectionManager node = scene.node();
    findings.row(
        "attackers get only the processor time that is left over (1; they stand for other machines) or as much as others (0)",
        "",
        scene.attackers().isSpare() ? 1 : 0);
    neighbours.warmUp();
    long before = live();
    long resident = 0;
    neighbours.calm("nobody else there");
    // All of them first: what a login leads to is the same at each.
    plan.doors().forEach(door -> mutations.learn(door, plan.rate()));
    plan.doors().forEach(door -> mutations.paced(door, plan.rate()));
    slowSockets.hold(plan.slow());
    plan.doors().forEach(this::declare);
    for (Door door : plan.doors()) {
      mutations.flatOut(door, plan.packets());
      resident = Math.max(resident, Usage.of(node.pid()).residentBytes());
    }
    neighbours.calm("when all is over");
    neighbours.tellLosses();
    findings.row("live heap and direct memory before", "MB", before / 1e6);
    findings.row("live heap and direct memory after", "MB", live() / 1e6);
    findings.row("resident, at most (heap of " + HEAP + ")", "MB", resident / 1e6);
    findings.none("unauthenticated bytes when all is over", "bytes", quietBytes());
    findings.none("errors of event loops", "", node.meter("cm_transport_loop_errors_total", ""));
    findings.none(
        "connections closed by an error of ours",
        "",
        node.meter("cm_transport_closed_total", "cause=\"error\""));
    return findings.result();
  }

  private void declare(Door door) {
    ConnectionManager node = scene.node();
    int refused = scene.attackers().declare(door, node.listener(door.text()), DECLARATIONS);
    findings.require(refused == DECLARATIONS);
    findings.row(
        door.text() + ": 268 MB declared and refused", "connections", refused, DECLARATIONS);
    long bytes = node.page().path("unauthenticated_bytes").asLong(0);
    scene
        .run()
        .say("%s: %d of %d refused, %,d bytes held", door.text(), refused, DECLARATIONS, bytes);
  }

  /// Peers that are still closing hold some of it for a moment.
  private long quietBytes() {
    long bytes = Long.MAX_VALUE;
    for (int look = 0; look < 100 && bytes > 0; look++) {
      bytes = scene.node().page().path("unauthenticated_bytes").asLong(Long.MAX_VALUE);
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
    }
    return bytes;
  }

  private long live() {
    try (Jvm jvm = Jvm.attach(scene.node().pid())) {
      return jvm.liveBytes() + jvm.directBytes();
    }
  }
}
