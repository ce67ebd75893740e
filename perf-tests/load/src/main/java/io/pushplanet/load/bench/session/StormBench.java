package io.pushplanet.load.bench.session;

import io.pushplanet.common.message.MessageIds;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.measure.Admissions;
import io.pushplanet.load.measure.Neighbours;
import io.pushplanet.load.node.AdmissionLook;
import io.pushplanet.load.node.ConnectionManager;
import io.pushplanet.load.node.Gateway;
import io.pushplanet.load.node.Usage;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/// Every device of a node loses its connection at once and comes back at once: are they admitted at
/// the set rate, do all come back, is no message to them lost, and how long does a delivery to the
/// other devices take meanwhile? Such a delivery is one message at a time from a gateway to one
/// device until its outcome arrives. Each device that is cut gets a message while the storm lasts,
/// from another gateway ([CutMessages]), and as many in the normal case that the storm is compared
/// with.
///
/// The devices run on the node's own machine, in a low-priority process: they stand for thousands
/// of other machines.
public final class StormBench {
  private static final String CALM = "0190ca10";
  private static final String STORMY = "0190ca11";
  private static final int CALM_DEVICES = 100;
  private static final int ROUNDS = 3;

  // Without earlier storms the node would compile during the measurement, and so would this bench.
  private static final int WARM_UPS = 5;

  /// A listener's burst is a tenth of a second's worth, and each event loop may admit one more.
  private static final double RATE_AND_BURST = 1.1;

  private static final double SHARE = 0.95;

  private static final Duration LOOKS_EVERY = Duration.ofMillis(200);

  private final Run run;
  private final ConnectionManager node;
  private final FleetProcess stormy;
  private final Gateway gateway;
  private final CutMessages messages;
  private final Plan plan;
  private final Findings findings = new Findings();
  private final Admissions admissions = new Admissions();

  /// @param sessions cut at once
  /// @param rate of devices that the node admits, a second
  private record Plan(int sessions, int rate) {
    /// In which all devices could be back.
    Duration length() {
      return Duration.ofMillis(1_000L * sessions / rate);
    }
  }

  /// @param back devices, at the end of the storm
  private record Storm(int back, double seconds) {}

  private StormBench(
      Run run,
      ConnectionManager node,
      FleetProcess stormy,
      Gateway gateway,
      CutMessages messages,
      Plan plan) {
    this.run = run;
    this.node = node;
    this.stormy = stormy;
    this.gateway = gateway;
    this.messages = messages;
    this.plan = plan;
  }

  public static Result measure(Run run) {
    int sessions = run.number("sessions", 15_000);
    int rate = run.number("rate", 1_000);
    if (sessions < 1 || rate < 1) {
      throw new IllegalArgumentException("--sessions and --rate are from 1 on");
    }
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
        Gateway gateway = node.gateway();
        Gateway toCut = node.gateway()) {
      calm.connect(CALM_DEVICES, 1);
      stormy.connect(sessions, 1);
      var messages =
          new CutMessages(
              toCut,
              new MessageIds(run.clock(), new SecureRandom()),
              new SplittableRandom(),
              STORMY,
              sessions);
      return new StormBench(run, node, stormy, gateway, messages, new Plan(sessions, rate))
          .measure(directory.resolve("sightings.txt"));
    }
  }

  private static FleetProcess stormy(
      boolean spare, ConnectionManager node, int sessions, Path log) {
    return spare
        ? FleetProcess.startSpare(node, STORMY, sessions, log)
        : FleetProcess.start(node, STORMY, sessions, log);
  }

  private Result measure(Path sightings) {
    int sessions = plan.sessions();
    Neighbours neighbours = new Neighbours(gateway, CALM, CALM_DEVICES);
    neighbours.deliver(run.measured());
    stormy.note();
    for (int round = 0; round < WARM_UPS; round++) {
      run.say("storm to warm up: %,d back", storm(neighbours::deliver, this::looks).back());
    }
    List<Long> before = withoutStorm(neighbours);
    List<Long> meanwhile = new ArrayList<>();
    long sentBefore = neighbours.sent();
    int back = sessions;
    double seconds = 0;
    Usage start = Usage.of(node.pid());
    for (int round = 0; round < ROUNDS; round++) {
      Storm storm =
          storm(on -> meanwhile.addAll(neighbours.deliver(on)), on -> admissions.add(looks(on)));
      back = Math.min(back, storm.back());
      seconds += storm.seconds();
      run.say("storm %d: %,d back after %.1f s", round + 1, storm.back(), storm.seconds());
    }
    double micros = Usage.of(node.pid()).nanosSince(start) / 1e3 / (1.0 * ROUNDS * sessions);
    long deliveries = neighbours.sent() - sentBefore;
    long received = toAll();
    findings.row("devices cut at once", "devices", sessions);
    findings.row(
        "they get only the processor time that is left over (1; they stand for other machines) or as much as others (0)",
        "",
        stormy.isSpare() ? 1 : 0);
    findings.row("back", "devices", back, sessions);
    findings.require(back == sessions);
    tellAdmission();
    findings.row("back at (cut to the last SUBACK)", "devices/s", ROUNDS * sessions / seconds);
    findings.row("node's CPU per device back (deliveries included)", "us", micros);
    findings.rows(Neighbours.rows("delivery", before, meanwhile, 3));
    findings.row("deliveries meanwhile", "messages", deliveries);
    messages.tell(stormy.sightings(sightings), findings);
    findings.row("of one message to each of them, came", "messages", received, sessions);
    findings.require(received == sessions);
    findings.none("deliveries without an outcome", "messages", gateway.otherwise());
    run.say("fleet: %s", stormy.troubles());
    return findings.result();
  }

  /// What the bench does while a storm lasts.
  @FunctionalInterface
  private interface During {
    /// @param on whether the storm lasts
    void run(BooleanSupplier on);
  }

  /// The normal case that a storm is compared with: as many messages to the same devices, all of
  /// them connected.
  private List<Long> withoutStorm(Neighbours neighbours) {
    try (ExecutorService threads = threads()) {
      long until = System.nanoTime() + plan.length().toNanos();
      BooleanSupplier on = () -> System.nanoTime() - until < 0;
      var sent = CompletableFuture.runAsync(() -> messages.send(plan.length(), on), threads);
      List<Long> took = neighbours.deliver(on);
      sent.join();
      return took;
    }
  }

  private static ExecutorService threads() {
    return Executors.newThreadPerTaskExecutor(Thread.ofPlatform().daemon().factory());
  }

  /// Cuts all devices, waits until they are back, and then for their messages.
  ///
  /// @param here runs on this thread
  /// @param beside runs on a thread of its own
  private Storm storm(During here, During beside) {
    try (ExecutorService threads = threads()) {
      long began = System.nanoTime();
      CompletableFuture<Storm> storm =
          CompletableFuture.supplyAsync(
              () -> new Storm(stormy.storm(), (System.nanoTime() - began) / 1e9), threads);
      BooleanSupplier on = () -> !storm.isDone();
      var sent = CompletableFuture.runAsync(() -> messages.send(plan.length(), on), threads);
      var besides = CompletableFuture.runAsync(() -> beside.run(on), threads);
      here.run(on);
      Storm over = storm.join();
      besides.join();
      sent.join();
      return over;
    }
  }

  private List<AdmissionLook.Seen> looks(BooleanSupplier on) {
    List<AdmissionLook.Seen> looks = new ArrayList<>();
    try (AdmissionLook look = node.admissionLook()) {
      while (on.getAsBoolean()) {
        looks.add(look.look());
        LockSupport.parkNanos(LOOKS_EVERY.toNanos());
      }
    }
    return looks;
  }

  private void tellAdmission() {
    int rate = plan.rate();
    double most = rate * RATE_AND_BURST + Runtime.getRuntime().availableProcessors();
    findings.row("admission rate that is set", "devices/s", rate);
    findings.row(
        "admitted in any one second, at most (goal: the rate, and a burst of a tenth of it)",
        "devices",
        admissions.mostInASecond(),
        most);
    findings.require(admissions.mostInASecond() <= most);
    findings.row(
        "share of the rate kept while more devices waited in the line than were admitted",
        "",
        admissions.share(rate),
        SHARE);
    findings.row("they did so for", "s", admissions.lineSeconds());
    findings.row("nobody waited in the line for", "s", admissions.emptySeconds());
    findings.row("of storms of", "s", admissions.seconds());
  }

  private long toAll() {
    int sessions = plan.sessions();
    List<Device> all =
        IntStream.range(0, sessions).mapToObj(n -> FleetProcess.device(STORMY, n)).toList();
    long before = stormy.counts().received();
    gateway.send(all);
    return stormy.awaitReceived(before + sessions) - before;
  }
}
