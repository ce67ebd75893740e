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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/// Every device of a node loses its connection at once and comes back at once: are they admitted at
/// the set rate, do all come back, is no message lost, and how long does a delivery to the other
/// devices take meanwhile? Such a delivery is one message at a time from a gateway to one device
/// until its outcome arrives.
///
/// The devices run on the node's own machine, in a low-priority process: they stand for thousands
/// of other machines.
public final class StormBench {
  private static final String CALM = "0190ca10";
  private static final String STORMY = "0190ca11";
  private static final int CALM_DEVICES = 100;
  private static final int ROUNDS = 3;

  // A node without an earlier storm would compile during the measurement.
  private static final int WARM_UPS = 3;

  private final Run run;
  private final Gateway gateway;

  private StormBench(Run run, Gateway gateway) {
    this.run = run;
    this.gateway = gateway;
  }

  public static Result measure(Run run) {
    int sessions = run.number("sessions", 15_000);
    int rate = run.number("rate", 2_000);
    boolean spare = run.isSpare("fleet");
    Path directory = run.ownDirectory();
    try (LocalServices services = LocalServices.start(ServicesChoice.AUTO, run.servers());
        ConnectionManager node =
            ConnectionManager.start(
                run.root(),
                services,
                directory,
                "storm-1",
                List.of("-Xms1g", "-Xmx1g"),
                Map.of("cm.admission.connects-per-second", Integer.toString(rate)));
        FleetProcess calm = FleetProcess.start(node, CALM, directory.resolve("calm.log"));
        FleetProcess stormy = stormy(spare, node, sessions, directory.resolve("stormy.log"));
        Gateway gateway = node.gateway()) {
      calm.connect(CALM_DEVICES, 1);
      stormy.connect(sessions, 1);
      return new StormBench(run, gateway).measure(node, stormy, sessions, rate);
    }
  }

  private static FleetProcess stormy(
      boolean spare, ConnectionManager node, int sessions, Path log) {
    return spare
        ? FleetProcess.startSpare(node, STORMY, sessions, log)
        : FleetProcess.start(node, STORMY, sessions, log);
  }

  private Result measure(ConnectionManager node, FleetProcess stormy, int sessions, int rate) {
    Neighbours neighbours = new Neighbours(gateway, CALM, CALM_DEVICES);
    neighbours.deliver(run.each());
    for (int round = 0; round < WARM_UPS; round++) {
      run.say("storm to warm up: %,d back", stormy.storm());
    }
    List<Long> before = neighbours.deliver(run.each());
    List<Report.Row> rows = new ArrayList<>();
    List<Long> meanwhile = new ArrayList<>();
    long sentBefore = neighbours.sent();
    int back = sessions;
    double seconds = 0;
    Usage start = Usage.of(node.pid());
    for (int round = 0; round < ROUNDS; round++) {
      long began = System.nanoTime();
      CompletableFuture<Integer> storm = CompletableFuture.supplyAsync(stormy::storm);
      meanwhile.addAll(neighbours.deliver(() -> !storm.isDone()));
      back = Math.min(back, storm.join());
      double took = (System.nanoTime() - began) / 1e9;
      run.out()
          .println(
              String.format(Locale.ROOT, "storm %d: %,d back after %.1f s", round + 1, back, took));
      seconds += took;
    }
    double micros = Usage.of(node.pid()).nanosSince(start) / 1e3 / (1.0 * ROUNDS * sessions);
    long deliveries = neighbours.sent() - sentBefore;
    long received = toAll(stormy, sessions);
    rows.add(Report.Row.of("devices cut at once", "devices", sessions));
    rows.add(
        Report.Row.of(
            "they get only the processor time that is left over (1; they stand for other machines) or as much as others (0)",
            "",
            stormy.isSpare() ? 1 : 0));
    rows.add(Report.Row.of("back", "devices", back, sessions));
    rows.add(Report.Row.of("admission rate that is set", "devices/s", rate));
    rows.add(
        Report.Row.of(
            "back at (cut to the last SUBACK)", "devices/s", ROUNDS * sessions / seconds));
    rows.add(Report.Row.of("node's CPU per device back (deliveries included)", "us", micros));
    rows.addAll(Neighbours.rows("delivery", before, meanwhile, 3));
    rows.add(Report.Row.of("deliveries meanwhile", "messages", deliveries));
    rows.add(Report.Row.of("of one message to each of them, came", "messages", received, sessions));
    rows.add(Report.Row.of("deliveries without an outcome", "messages", gateway.otherwise(), 0));
    run.out().println("fleet: " + stormy.troubles());
    return new Result(rows, back == sessions && received == sessions && gateway.otherwise() == 0);
  }

  private long toAll(FleetProcess fleet, int sessions) {
    List<Device> all =
        IntStream.range(0, sessions).mapToObj(n -> FleetProcess.device(STORMY, n)).toList();
    gateway.send(all);
    return fleet.awaitReceived(sessions);
  }
}
