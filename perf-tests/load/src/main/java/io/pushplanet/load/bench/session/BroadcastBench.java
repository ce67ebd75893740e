package io.pushplanet.load.bench.session;

import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.measure.Neighbours;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.Gateway;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/// One message to every device of one or several nodes: its cost for a node, when the last device
/// has it, and the time of a message to a single device before and during it. A device that gets it
/// at QoS 1 acknowledges it; no message may be missing.
///
/// The devices run on the nodes' own machine, in low-priority processes: they stand for thousands
/// of other machines. With `--fleet=equal` they compete with the nodes and the meter for the
/// processors.
public final class BroadcastBench {
  private static final String CALM = "0190ca20";
  private static final int CALM_DEVICES = 100;

  // With fewer messages the compilers still take a processor for 80 ms during the measurement of
  // single messages.
  private static final int WARM = 40;

  private static final int COUNTED = 10;

  // Some 4,000 messages to one device each: eight windows of Neighbours.
  private static final int BESIDE = 40;

  private static final Duration SETTLED_AFTER = Duration.ofSeconds(2);

  private final Run run;
  private final List<Site> sites = new ArrayList<>();
  private final int sessions;
  private long missing;

  /// A node with its devices and meters.
  private static final class Site {
    final ConnectionManager node;
    final FleetProcess fleet;
    final Gateway gateway;
    final List<Device> devices;
    long sent;

    Site(ConnectionManager node, FleetProcess fleet, String prefix, int sessions) {
      this.node = node;
      this.fleet = fleet;
      this.gateway = node.gateway();
      this.devices =
          IntStream.range(0, sessions).mapToObj(n -> FleetProcess.device(prefix, n)).toList();
    }

    void close() {
      gateway.close();
      fleet.close();
      node.close();
    }
  }

  private BroadcastBench(Run run, int sessions) {
    this.run = run;
    this.sessions = sessions;
  }

  public static Result measure(Run run) {
    int sessions = run.number("sessions", 19_500);
    int nodes = run.number("nodes", 1);
    boolean spare = run.isSpare("fleet");
    Path directory = run.ownDirectory();
    try (LocalServices services = LocalServices.start(ServicesChoice.AUTO, run.servers())) {
      BroadcastBench bench = new BroadcastBench(run, sessions);
      try {
        for (int number = 1; number <= nodes; number++) {
          bench.sites.add(site(run, services, directory, number, sessions, spare));
        }
        return bench.measure(directory);
      } finally {
        bench.sites.forEach(Site::close);
      }
    }
  }

  private static Site site(
      Run run, LocalServices services, Path directory, int number, int sessions, boolean spare) {
    ConnectionManager node =
        ConnectionManager.start(
            run.root(),
            services,
            directory,
            "broadcast-" + number,
            List.of("-Xms1g", "-Xmx1g"),
            Map.of());
    String prefix = String.format(Locale.ROOT, "0190cb%02d", number);
    Path log = directory.resolve("fleet-" + number + ".log");
    FleetProcess fleet =
        spare ? FleetProcess.startSpare(node, prefix, log) : FleetProcess.start(node, prefix, log);
    return new Site(node, fleet, prefix, sessions);
  }

  private Result measure(Path directory) {
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("devices", "sessions", (double) sessions * sites.size()));
    rows.add(Report.Row.of("nodes", "processes", sites.size()));
    rows.add(
        Report.Row.of(
            "devices get only the processor time that is left over (1; they stand for other machines) or as much as others (0)",
            "",
            sites.stream().allMatch(site -> site.fleet.isSpare()) ? 1 : 0));
    try (FleetProcess calm =
            FleetProcess.start(sites.getFirst().node, CALM, directory.resolve("calm.log"));
        Gateway single = sites.getFirst().node.gateway()) {
      calm.connect(CALM_DEVICES, 1);
      Neighbours neighbours = new Neighbours(single, CALM, CALM_DEVICES);
      rows.addAll(measure(1, 20.0, neighbours));
      for (Site site : sites) {
        missing += site.fleet.counts().repeated();
        site.fleet.leave();
        site.sent = 0;
      }
      rows.addAll(measure(0, 12.0, neighbours));
      missing += neighbours.missed(calm.counts());
      run.out().println("calm fleet: " + calm.troubles());
    }
    for (Site site : sites) {
      missing += site.gateway.otherwise() + site.fleet.counts().repeated();
      run.out().println(site.node.name() + " fleet: " + site.fleet.troubles());
    }
    rows.add(
        Report.Row.of("not received, received twice or not delivered", "messages", missing, 0));
    rows.add(
        Report.Row.of(
            "peak resident of the largest node",
            "MB",
            sites.stream()
                    .mapToLong(site -> Usage.peakResidentBytes(site.node.pid()))
                    .max()
                    .orElse(0)
                / 1e6));
    return new Result(rows, missing == 0);
  }

  private List<Report.Row> measure(int qos, double goal, Neighbours neighbours) {
    for (Site site : sites) {
      site.fleet.connect(sessions, qos);
    }
    String at = ", QoS " + qos;
    run.out()
        .printf(
            Locale.ROOT,
            "QoS %d: %d messages to all to warm up, then some %d s%n",
            qos,
            WARM,
            2 * run.measured().toSeconds() + COUNTED + BESIDE);
    for (int message = 0; message < WARM; message++) {
      besideABroadcast(neighbours);
    }
    neighbours.deliver(run.measured());
    List<Long> before = neighbours.deliver(run.measured());
    LockSupport.parkNanos(SETTLED_AFTER.toNanos());
    List<Usage> start = sites.stream().map(site -> Usage.of(site.node.pid())).toList();
    List<Long> last = new ArrayList<>();
    for (int message = 0; message < COUNTED; message++) {
      last.add(broadcast());
    }
    LockSupport.parkNanos(SETTLED_AFTER.toNanos());
    long nanos = 0;
    for (int site = 0; site < sites.size(); site++) {
      nanos += Usage.of(sites.get(site).node.pid()).nanosSince(start.get(site));
    }
    double micros = nanos / 1e3 / (1.0 * COUNTED * sessions * sites.size());
    List<Long> meanwhile = new ArrayList<>();
    long sentBefore = neighbours.sent();
    for (int message = 0; message < BESIDE; message++) {
      meanwhile.addAll(besideABroadcast(neighbours));
    }
    // A duplicate may come last.
    LockSupport.parkNanos(SETTLED_AFTER.toNanos());
    run.out()
        .println(
            String.format(
                Locale.ROOT,
                "QoS %d: %.2f us a message, the last device after %.0f ms, a message to one device"
                    + " p99 %.1f ms, meanwhile %.1f ms",
                qos,
                micros,
                Neighbours.percentile(last, 50),
                Neighbours.P99.of(before).usual(),
                Neighbours.P99.of(meanwhile).usual()));
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("nodes' CPU per message" + at, "us", micros, goal));
    rows.add(
        Report.Row.of("last device has it (median)" + at, "ms", Neighbours.percentile(last, 50)));
    rows.add(
        Report.Row.of("last device has it (longest)" + at, "ms", Neighbours.percentile(last, 100)));
    rows.addAll(Neighbours.rows("one device" + at, before, meanwhile, 3));
    rows.add(
        Report.Row.of(
            "messages to one device meanwhile" + at, "messages", neighbours.sent() - sentBefore));
    return rows;
  }

  private List<Long> besideABroadcast(Neighbours neighbours) {
    CompletableFuture<Long> sent = CompletableFuture.supplyAsync(this::broadcast);
    List<Long> took = neighbours.deliver(() -> !sent.isDone());
    sent.join();
    return took;
  }

  /// One message to all devices.
  ///
  /// @return nanoseconds until the last device had it
  private long broadcast() {
    long start = System.nanoTime();
    for (Site site : sites) {
      site.sent += sessions;
      site.gateway.broadcast(site.devices);
    }
    for (Site site : sites) {
      long received = site.fleet.awaitReceived(site.sent);
      missing += Math.abs(site.sent - received);
      // Otherwise each later message would count the same loss again.
      site.sent = received;
    }
    long took = System.nanoTime() - start;
    for (Site site : sites) {
      missing += site.gateway.awaitBroadcasts();
    }
    return took;
  }
}
