package io.pushplanet.load.bench.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.provider.BatchTraffic.Shape;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.node.ProviderSenders;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Jvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/// The cost of a notification of 1 KB from its accept to the provider's answer and its row in
/// MySQL, one per request or a hundred; and how many per second go from the queue to a provider,
/// near or far away, with acknowledgements and events. The provider is a server that only answers,
/// in a process of its own: the strict simulators would limit the rate.
public final class GatewayBench {
  private static final List<String> PARTS =
      List.of("single", "messages", "devices", "queue", "singles");
  private static final int DEVICES = 2_000;

  /// The number in flight, small enough that no queue builds up.
  private static final int UNDER_WAY = 4_000;

  private static final int WARM_UP_SECONDS = 30;
  private static final Duration DRAINED_WITHIN = Duration.ofSeconds(120);

  /// A request for the worker's figures costs it some 4 ms, which count. So the first request comes
  /// when half of the messages in flight could be done, and the others not more often than this.
  private static final Duration ASKED_EVERY = Duration.ofMillis(200);

  private static final double RATE_GOAL = 20_000;

  private static final double SINGLE_GOAL = 100;
  private static final double BATCH_GOAL = 45;

  /// The share of a single app: four fifths of `gateway.delivery.max-in-flight`.
  private static final double PLACES = 3_276;

  private static final double SHARE_GOAL = 0.95;

  private static final String UNDER_WAY_NOW = "pushplanet_provider_in_flight";
  private static final String CONNECTIONS = "pushplanet_provider_pool_connections";
  private static final String OUTCOMES = "pushplanet_outcomes_total";
  private static final String IN_HAND = "pushplanet_intake_in_hand";

  private final Run run;
  private final String channel;
  private final Duration delay;
  private final Target target;
  private final ChildProcess worker;
  private final int workerPort;
  private final Connection mysql;
  private final List<DeviceId> devices;
  private final List<Report.Row> rows = new ArrayList<>();
  private long lost;

  private GatewayBench(
      Run run, String channel, OwnPlatform platform, Connection mysql, List<DeviceId> devices) {
    this.run = run;
    this.channel = channel;
    this.delay = delay(run);
    this.target = platform.target();
    this.worker = platform.platform().process(Program.WORKER);
    this.workerPort = platform.workerPort();
    this.mysql = mysql;
    this.devices = devices;
  }

  public static Result measure(Run run) {
    String channel = run.option("channel").orElse("apns");
    if (!channel.equals("apns") && !channel.equals("fcm")) {
      throw new IllegalArgumentException("--channel is apns or fcm, not " + channel);
    }
    Duration delay = delay(run);
    List<String> parts =
        run.some(
            "parts", delay.isZero() ? "single,messages,devices,queue" : "queue,singles", PARTS);
    Path directory = run.ownDirectory();
    // The platform would take processes with records in its own directory for leftovers of its last
    // run, and end them.
    Path ownDirectory = directory.resolveSibling(run.name() + "-provider");
    Path authority = directory.resolve("simulators");
    try {
      Files.createDirectories(ownDirectory);
      Files.createDirectories(authority);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to " + directory, e);
    }
    try (ProviderSenders server =
            ProviderSenders.start(run.root(), ownDirectory, authority, delay);
        OwnPlatform platform =
            start(
                run,
                "https://localhost:" + (delay.isZero() ? server.serverPort() : server.farPort()))) {
      Target target = platform.target();
      Channel vendor = channel.equals("apns") ? Channel.APNS : Channel.FCM;
      Population population = Population.register(target, run.name(), Map.of(vendor, DEVICES));
      List<DeviceId> devices = population.of(vendor);
      try (Connection mysql =
          DriverManager.getConnection(
              target.mysqlUrl(), target.mysqlUser(), target.mysqlPassword().reveal())) {
        return new GatewayBench(run, channel, platform, mysql, devices).measure(parts);
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read MySQL: " + e.getMessage(), e);
    }
  }

  /// The round trip to the provider; zero: it is near.
  private static Duration delay(Run run) {
    String given = run.option("delay").orElse("0ms");
    if (!given.matches("[0-9]{1,4}ms")) {
      throw new IllegalArgumentException("--delay is such as 150ms, not " + given);
    }
    return Duration.ofMillis(Integer.parseInt(given.replace("ms", "")));
  }

  private static OwnPlatform start(Run run, String provider) {
    return OwnPlatform.start(
        run,
        Set.of(Program.CONNECTION_MANAGER, Program.DASHBOARD),
        Map.of(
            "gateway.apns.production-endpoint",
            provider,
            "gateway.fcm.endpoint",
            provider,
            // So that Google's quota of a project does not limit the rate.
            "gateway.fcm.messages-per-minute",
            "600000000"));
  }

  private Result measure(List<String> parts) {
    Duration warmUp = Duration.ofSeconds(run.number("warm-up", WARM_UP_SECONDS));
    run.out()
        .println(
            "compare with gorush only in the same hour: perf-tests/results/2026-11-26-gorush.md");
    run.out().println("warming up for " + 2 * warmUp.toSeconds() + " s");
    underWay(Shape.SINGLE, warmUp);
    underWay(Shape.MESSAGES, warmUp);
    if (parts.contains("single")) {
      wholeWay(Shape.SINGLE, SINGLE_GOAL);
    }
    if (parts.contains("messages")) {
      wholeWay(Shape.MESSAGES, BATCH_GOAL);
    }
    if (parts.contains("devices")) {
      wholeWay(Shape.DEVICES, BATCH_GOAL);
    }
    if (parts.contains("queue")) {
      run.out().println("from a full queue");
      fromTheQueue(Shape.MESSAGES, "first");
      fromTheQueue(Shape.MESSAGES, "second");
    }
    if (parts.contains("singles")) {
      run.out().println("from a full queue, accepted one by one");
      fromTheQueue(Shape.SINGLE, "one by one, first");
      fromTheQueue(Shape.SINGLE, "one by one, second");
    }
    rows.add(Report.Row.of("accepted, but not delivered once", "messages", lost));
    return new Result(rows, lost == 0);
  }

  // The whole way

  private void wholeWay(Shape shape, double goal) {
    run.out().println(shape.words() + ", for " + run.each().toSeconds() + " s");
    Meters before = Meters.of(workerPort);
    long allocatedBefore = allocated();
    ProcessorTime used = ProcessorTime.now(target.pids());
    long start = System.nanoTime();
    long accepted = underWay(shape, run.each());
    double seconds = (System.nanoTime() - start) / 1e9;
    ProcessorTime usedAfter = ProcessorTime.now(target.pids());
    Map<String, Double> micros = usedAfter.perOperation(used, accepted);
    Meters after = Meters.of(workerPort);
    String with = " (" + shape.words() + ")";
    rows.add(Report.Row.of("accepted and answered" + with, "1/s", accepted / seconds));
    double ours =
        micros.getOrDefault("dispatcher-api", 0.0) + micros.getOrDefault("gateway-worker", 0.0);
    rows.add(Report.Row.of("CPU per notification, dispatcher and worker" + with, "us", ours, goal));
    // Without the provider's own time, which belongs to the bench, like the load.
    micros.forEach((program, each) -> {
      if (!program.equals("load") && !program.equals("simulators")) {
        rows.add(Report.Row.of("CPU per notification: " + program + with, "us", each));
      }
    });
    // Much compiler time means that the programs were not warm: then a message costs several times
    // as much.
    rows.add(
        Report.Row.of(
            "compilers meanwhile" + with,
            "processors",
            usedAfter.compilers().minus(used.compilers()).toNanos() / 1e9 / seconds));
    rows.add(
        Report.Row.of(
            "worker's garbage per notification" + with,
            "bytes",
            (double) (allocated() - allocatedBefore) / Math.max(1, accepted)));
    for (double share : new double[] {0.5, 0.99}) {
      rows.add(
          Report.Row.of(
              "accept to answer p" + Math.round(share * 100) + with,
              "ms",
              1_000
                  * after.quantileSince(
                      before,
                      share,
                      "pushplanet_accept_to_outcome_seconds",
                      "channel=\"" + channel)));
    }
  }

  private static boolean endsWithin(CountDownLatch over, Duration wait) {
    try {
      return over.await(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private long allocated() {
    try (Jvm jvm = Jvm.attach(worker.pid())) {
      return jvm.allocatedBytes();
    }
  }

  /// Sends with a bounded number of messages in flight, and waits for the last.
  ///
  /// @return how many were accepted
  private long underWay(Shape shape, Duration length) {
    BatchTraffic traffic = new BatchTraffic(target, devices, shape);
    Meters before = Meters.of(workerPort);
    long toldBefore = told();
    AtomicLong delivered = new AtomicLong();
    AtomicLong asked = new AtomicLong();
    long end = System.nanoTime() + length.toNanos();
    CountDownLatch over = new CountDownLatch(1);
    Thread watch =
        Thread.ofVirtual()
            .start(() -> {
              do {
                if (asked.get() - delivered.get() >= UNDER_WAY / 2) {
                  delivered.set(deliveredSince(before));
                }
              } while (!endsWithin(over, ASKED_EVERY));
            });
    traffic.run(() -> {
      while (System.nanoTime() - end < 0) {
        if (asked.get() - delivered.get() < UNDER_WAY) {
          asked.addAndGet(shape.notifications());
          return true;
        }
        TimeUnit.MILLISECONDS.sleep(5);
      }
      return false;
    });
    over.countDown();
    awaitTold(before, toldBefore, traffic.accepted());
    join(watch);
    if (traffic.refused() > 0) {
      run.out().println("not accepted: " + traffic.refused());
    }
    return traffic.accepted();
  }

  // From the queue

  /// Freezes the worker while the queue fills, and then lets it run: it is warm.
  private void fromTheQueue(Shape shape, String time) {
    Meters before = Meters.of(workerPort);
    long toldBefore = told();
    worker.freeze();
    BatchTraffic traffic = new BatchTraffic(target, devices, shape);
    long end = System.nanoTime() + run.each().toNanos();
    try {
      traffic.run(Traffic.Gate.until(end));
    } finally {
      worker.thaw();
    }
    ProcessorTime used = ProcessorTime.now(target.pids());
    long start = System.nanoTime();
    Line line = delay.isZero() ? null : watch(before, traffic.accepted());
    double answered =
        (awaitDelivered(before, traffic.accepted()) + (line == null ? 0 : line.nanos())) / 1e9;
    awaitAcknowledged();
    double acknowledged = (System.nanoTime() - start) / 1e9;
    awaitTold(before, toldBefore, traffic.accepted());
    double told = (System.nanoTime() - start) / 1e9;
    Map<String, Double> micros =
        ProcessorTime.now(target.pids()).perOperation(used, traffic.accepted());
    String with =
        " ("
            + time
            + (line == null ? "" : ", " + delay.toMillis() + " ms away")
            + ", "
            + traffic.accepted()
            + " waiting)";
    if (line != null) {
      overALongLine(line, with);
    }
    rows.add(
        Report.Row.of("queue to provider's answer" + with, "1/s", traffic.accepted() / answered));
    rows.add(
        Report.Row.of(
            "queue to provider, acknowledged, outcomes confirmed by the broker" + with,
            "1/s",
            Math.round(traffic.accepted() / acknowledged),
            RATE_GOAL));
    rows.add(
        Report.Row.of(
            "queue to provider, acknowledged, and its row in MySQL" + with,
            "1/s",
            Math.round(traffic.accepted() / told),
            RATE_GOAL));
    rows.add(
        Report.Row.of(
            "CPU per notification from the queue: worker" + with,
            "us",
            micros.getOrDefault("gateway-worker", 0.0)));
  }

  /// The figures of a long line while a queue was emptied over it.
  ///
  /// @param rate per second, between the first tenth and the last
  /// @param underWay requests without an answer, at most
  /// @param connections to the provider, at most
  /// @param nanos until nine tenths were answered
  private record Line(double rate, double underWay, double connections, long nanos) {}

  /// Waits until nine tenths are answered.
  private Line watch(Meters before, long accepted) {
    double underWay = 0;
    double connections = 0;
    long start = System.nanoTime();
    long begun = 0;
    long begunNanos = start;
    long delivered = 0;
    long now = start;
    while (delivered < accepted * 9 / 10 && now - start < DRAINED_WITHIN.toNanos()) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
      Meters meters = Meters.of(workerPort, OUTCOMES, UNDER_WAY_NOW, CONNECTIONS);
      now = System.nanoTime();
      delivered = Math.round(delivered(meters) - delivered(before));
      underWay = Math.max(underWay, meters.sum(UNDER_WAY_NOW, "push." + channel));
      connections = Math.max(connections, meters.sum(CONNECTIONS, "channel=\"" + channel));
      if (begun == 0 && delivered >= accepted / 10) {
        begun = delivered;
        begunNanos = now;
      }
    }
    double seconds = Math.max(1, now - begunNanos) / 1e9;
    return new Line((delivered - begun) / seconds, underWay, connections, now - start);
  }

  private void overALongLine(Line line, String with) {
    rows.add(
        Report.Row.of(
            "queue to provider's answer, without the first and the last tenth" + with,
            "1/s",
            Math.round(line.rate()),
            RATE_GOAL));
    rows.add(
        Report.Row.of(
            "share of an app's places / round trip" + with,
            "",
            line.rate() * delay.toMillis() / 1e3 / PLACES,
            SHARE_GOAL));
    rows.add(Report.Row.of("requests under way at most" + with, "", line.underWay()));
    rows.add(Report.Row.of("connections" + with, "", line.connections()));
  }

  private long deliveredSince(Meters then) {
    return Math.round(delivered(Meters.of(workerPort, OUTCOMES)) - delivered(then));
  }

  private double delivered(Meters meters) {
    return meters.sum(OUTCOMES, "channel=\"" + channel + "\"", "result=\"delivered\"");
  }

  /// @return nanoseconds until the provider had answered all
  private long awaitDelivered(Meters before, long accepted) {
    long start = System.nanoTime();
    while (deliveredSince(before) < accepted
        && System.nanoTime() - start < DRAINED_WITHIN.toNanos()) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
    }
    return System.nanoTime() - start;
  }

  /// Waits until the lanes' messages are acknowledged, each after the broker has confirmed its
  /// outcomes.
  private void awaitAcknowledged() {
    long deadline = System.nanoTime() + DRAINED_WITHIN.toNanos();
    while (Meters.of(workerPort, IN_HAND).sum(IN_HAND, "consumer=\"deliver-") > 0
        && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(ASKED_EVERY.toNanos());
    }
  }

  /// Waits until all are delivered and MySQL has their rows: the minutes are written in the same
  /// transaction.
  private void awaitTold(Meters before, long toldBefore, long accepted) {
    awaitDelivered(before, accepted);
    long deadline = System.nanoTime() + DRAINED_WITHIN.toNanos();
    while (told() - toldBefore < accepted && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    lost +=
        Math.max(
            Math.abs(accepted - deliveredSince(before)),
            Math.abs(accepted - (told() - toldBefore)));
  }

  private long told() {
    try (PreparedStatement query =
        mysql.prepareStatement(
            "SELECT SUM(count) FROM statistics_minutes WHERE channel = ? AND outcome = 'delivered'")) {
      query.setString(1, channel);
      try (ResultSet sum = query.executeQuery()) {
        return sum.next() ? sum.getLong(1) : 0;
      }
    } catch (SQLException e) {
      throw new IllegalStateException("cannot read what MySQL was told: " + e.getMessage(), e);
    }
  }

  private static void join(Thread watch) {
    try {
      watch.join(Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
