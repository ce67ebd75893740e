package io.pushplanet.load.bench;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.hostile.Attack;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.hostile.Slowloris;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.FleetProcess;
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
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/// Hostile clients at every kind of listener of one node, while a gateway delivers to devices that do nothing wrong: mutated
/// packets at a set rate and then as many as were asked for, as fast as it goes; sockets that never finish their first packet;
/// headers that declare 268 MB.
///
/// The attackers sit on the node's own machine: what they cost the neighbours as fast as it goes is the machine's
/// processors, and only at the set rate the node's own doing.
final class HostileBench {
  private static final String CALM = "0190ca12";
  private static final int CALM_DEVICES = 100;
  private static final int KNOWN_DEVICES = 1_000;
  private static final int PACED_THREADS = 4;

  /// Most of them wait for the node, which collects log-ins before it asks Redis.
  private static final int THREADS = 32;

  private static final int DECLARATIONS = 200;
  private static final String HEAP = "-Xmx512m";
  private static final Duration PRACTICE = Duration.ofSeconds(10);
  private static final Duration SLOW_START = Duration.ofSeconds(30);

  /// So many more sockets are kept, because each is closed after five seconds and has to be opened again.
  private static final double SPARE = 0.1;

  private final Run run;
  private final ConnectionManager node;
  private final Neighbours neighbours;
  private final long seed;
  private final List<Report.Row> rows = new ArrayList<>();
  private boolean held = true;
  private double calm;

  private HostileBench(Run run, ConnectionManager node, Neighbours neighbours, long seed) {
    this.run = run;
    this.node = node;
    this.neighbours = neighbours;
    this.seed = seed;
  }

  static Benchmark.Result measure(Run run) {
    long packets = run.option("packets").map(Long::parseLong).orElse(1_000_000L);
    int slow = run.number("slowloris", 5_000);
    int pipeline = run.number("pipeline", 64);
    double rate = run.option("rate").map(Double::parseDouble).orElse(100.0);
    List<Door> doors =
        run.option("doors")
            .map(names -> Arrays.stream(names.split(",")).map(Door::named).toList())
            .orElse(List.of(Door.values()));
    long seed = run.option("seed").map(Long::parseLong).orElseGet(() -> run.clock().millis());
    run.out().println("seed " + seed);
    Path directory = run.ownDirectory();
    TlsIdentity tls = TlsIdentity.in(directory);
    DeviceCredential credential = new DeviceCredential(ConnectionManager.masterKey(), run.clock());
    List<Device> known =
        IntStream.range(0, KNOWN_DEVICES)
            .mapToObj(number -> FleetProcess.device("0190ca13", number))
            .map(device ->
                new Device(
                    device.app(),
                    device.id(),
                    new Secret(credential.mint(device.app(), device.id(), Duration.ofDays(1))),
                    device.version()))
            .toList();
    try (LocalServices services =
        LocalServices.start(ServicesChoice.AUTO, directory.resolve("services"))) {
      try (ConnectionManager other = node(run, services, directory, tls, "practice")) {
        practise(run, attacks(doors, other, known, pipeline), seed);
      }
      try (ConnectionManager node = node(run, services, directory, tls, "hostile-1");
          FleetProcess calm = FleetProcess.start(node, CALM, directory.resolve("calm.log"));
          var gateway = node.gateway()) {
        calm.connect(CALM_DEVICES, 1);
        return new HostileBench(run, node, new Neighbours(gateway, CALM, CALM_DEVICES), seed)
            .measure(attacks(doors, node, known, pipeline), packets, slow, rate);
      }
    }
  }

  private static ConnectionManager node(
      Run run, LocalServices services, Path directory, TlsIdentity tls, String id) {
    return ConnectionManager.start(
        run.root(),
        services,
        directory,
        id,
        List.of(HEAP),
        Map.of(
            "cm.tls.certificate", tls.certificate().toString(),
            "cm.tls.private-key", tls.privateKey().toString(),
            "cm.ws-port", "0",
            "cm.wss-port", "0",
            "cm.admission.connects-per-second", "0"));
  }

  private static List<Attack> attacks(
      List<Door> doors, ConnectionManager node, List<Device> known, int pipeline) {
    return doors.stream()
        .map(door ->
            new Attack(
                door,
                node.listener(door.text()),
                known,
                ConnectionManager.GATEWAY_PASSWORD,
                pipeline))
        .toList();
  }

  /// At another node: the attackers' first hundreds of TLS handshakes run interpreted, on the processors that they share
  /// with the neighbours, and cost these more than the node does.
  private static void practise(Run run, List<Attack> attacks, long seed) {
    for (Attack attack : attacks) {
      if (attack.door().isTls()) {
        run.out().println("the attackers practise " + attack.door().text() + " at another node");
        long end = System.nanoTime() + PRACTICE.toNanos();
        attack.run(Long.MAX_VALUE, PACED_THREADS, 0, seed, () -> System.nanoTime() - end < 0);
      }
    }
  }

  private Benchmark.Result measure(List<Attack> attacks, long packets, int slow, double rate) {
    neighbours.deliver(run.each());
    long before = live();
    long resident = 0;
    calm = Neighbours.percentile(neighbours.deliver(run.each()), 99);
    rows.add(Report.Row.of("neighbours' p99, nobody else there", "ms", calm));
    attacks.forEach(attack -> paced(attack, rate));
    slowly(slow);
    attacks.forEach(this::declare);
    for (Attack attack : attacks) {
      flatOut(attack, packets);
      resident = Math.max(resident, Usage.of(node.pid()).residentBytes());
    }
    calm = Neighbours.percentile(neighbours.deliver(run.each()), 99);
    rows.add(Report.Row.of("neighbours' p99, when all is over", "ms", calm));
    rows.add(Report.Row.of("live heap and direct memory before", "MB", before / 1e6));
    rows.add(Report.Row.of("live heap and direct memory after", "MB", live() / 1e6));
    rows.add(Report.Row.of("resident, at most (heap of " + HEAP + ")", "MB", resident / 1e6));
    none("unauthenticated bytes when all is over", "bytes", quietBytes());
    none("errors of event loops", "", node.meter("cm_transport_loop_errors_total", ""));
    none(
        "connections closed by an error of ours",
        "",
        node.meter("cm_transport_closed_total", "cause=\"error\""));
    return new Benchmark.Result(rows, held);
  }

  /// At a rate that leaves the machine's processors time for both.
  private void paced(Attack attack, double rate) {
    long end = System.nanoTime() + run.each().toNanos();
    long before = attack.packets();
    CompletableFuture<Void> attackers =
        CompletableFuture.runAsync(() ->
            attack.run(
                Long.MAX_VALUE, PACED_THREADS, rate, seed, () -> System.nanoTime() - end < 0));
    List<Long> took = neighbours.deliver(() -> !attackers.isDone());
    attackers.join();
    double p99 = Neighbours.percentile(took, 99);
    rows.add(
        Report.Row.of(
            attack.door().text() + ": mutated packets a second, paced",
            "1/s",
            (attack.packets() - before) / (double) run.each().toSeconds()));
    rows.add(
        new Report.Row(
            attack.door().text() + ": neighbours' p99 meanwhile",
            "ms",
            round(p99),
            null,
            round(2 * calm)));
    say("%s, paced: neighbours' p99 %.2f ms", attack.door().text(), p99);
  }

  private void flatOut(Attack attack, long packets) {
    long before = attack.packets();
    long connections = attack.connections();
    double read = node.meter("cm_transport_bytes_total", "read");
    long start = System.nanoTime();
    CompletableFuture<Void> attackers =
        CompletableFuture.runAsync(
            () -> attack.run(packets, THREADS, 0, seed + 1_000, node.process()::isRunning));
    List<Long> took = neighbours.deliver(() -> !attackers.isDone());
    attackers.join();
    double seconds = (System.nanoTime() - start) / 1e9;
    String name = attack.door().text() + ": ";
    rows.add(
        new Report.Row(
            name + "mutated packets sent",
            "packets",
            attack.packets() - before,
            null,
            (double) packets));
    rows.add(
        Report.Row.of(
            name + "on so many connections", "connections", attack.connections() - connections));
    rows.add(Report.Row.of(name + "rate", "packets/s", (attack.packets() - before) / seconds));
    rows.add(
        Report.Row.of(
            name + "read by the node before it refused",
            "MB",
            (node.meter("cm_transport_bytes_total", "read") - read) / 1e6));
    rows.add(
        Report.Row.of(
            name + "neighbours' p99 (attackers on the same processors)",
            "ms",
            Neighbours.percentile(took, 99)));
    none(name + "connections neither answered nor closed", "connections", attack.unanswered());
    say(
        "%s: %,d packets on %,d connections in %.0f s",
        attack.door().text(),
        attack.packets() - before,
        attack.connections() - connections,
        seconds);
  }

  private void slowly(int count) {
    int others = connections();
    int sockets = (int) (count * (1 + SPARE));
    try (Slowloris slow = Slowloris.start(sockets, node.listener("mqtt"), node.listener("tls"))) {
      long allBy = System.nanoTime() + SLOW_START.toNanos();
      neighbours.deliver(() -> slow.opened() < sockets && System.nanoTime() - allBy < 0);
      long end = System.nanoTime() + run.each().toNanos();
      CompletableFuture<int[]> least =
          CompletableFuture.supplyAsync(() -> {
            int standing = Integer.MAX_VALUE;
            int bytes = 0;
            long sum = 0;
            int looks = 0;
            while (System.nanoTime() - end < 0) {
              var page = node.page();
              int now = page.path("connections").asInt() - others;
              standing = Math.min(standing, now);
              sum += now;
              looks++;
              bytes = Math.max(bytes, page.path("unauthenticated_bytes").asInt(0));
              sleep();
            }
            return new int[] {standing, bytes, (int) (sum / Math.max(1, looks))};
          });
      List<Long> took = neighbours.deliver(() -> System.nanoTime() - end < 0);
      int[] seen = least.join();
      rows.add(
          new Report.Row(
              "slowloris: of " + sockets + " sockets stood at the node, on average",
              "connections",
              seen[2],
              null,
              (double) count));
      // It closes all of a second's together, and accepts those that come instead a few at a time.
      rows.add(Report.Row.of("slowloris: and at least", "connections", seen[0]));
      rows.add(Report.Row.of("slowloris: opened in all", "connections", slow.opened()));
      rows.add(
          Report.Row.of("slowloris: unauthenticated bytes held, at most", "KB", seen[1] / 1e3));
      double p99 = Neighbours.percentile(took, 99);
      rows.add(
          new Report.Row(
              "slowloris: neighbours' p99 meanwhile", "ms", round(p99), null, round(2 * calm)));
      held &= seen[2] >= count;
      say("slowloris: %,d held, neighbours' p99 %.2f ms", seen[2], p99);
    }
  }

  private int connections() {
    return node.page().path("connections").asInt();
  }

  private void declare(Attack attack) {
    int refused = 0;
    for (int count = 0; count < DECLARATIONS; count++) {
      refused += attack.declare() ? 1 : 0;
    }
    held &= refused == DECLARATIONS;
    rows.add(
        new Report.Row(
            attack.door().text() + ": 268 MB declared and refused",
            "connections",
            refused,
            null,
            (double) DECLARATIONS));
    long bytes = node.page().path("unauthenticated_bytes").asLong(0);
    say("%s: %d of %d refused, %,d bytes held", attack.door().text(), refused, DECLARATIONS, bytes);
  }

  /// Peers that are still being closed hold some for a moment.
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

  private void none(String metric, String unit, double value) {
    held &= value == 0;
    rows.add(new Report.Row(metric, unit, value, null, 0.0));
  }

  private void say(String form, Object... values) {
    run.out().println(String.format(Locale.ROOT, form, values));
  }

  private static double round(double value) {
    return Math.round(value * 100) / 100.0;
  }
}
