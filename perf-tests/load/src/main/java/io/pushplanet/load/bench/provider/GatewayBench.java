package io.pushplanet.load.bench.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.bench.Findings;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.provider.BatchTraffic.Shape;
import io.pushplanet.load.node.ProviderSenders;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.platform.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The cost of a notification of 1 KB from its accept to the provider's answer and its row in
/// MySQL, one per request or a hundred; and how many per second go from the queue to a provider,
/// near or far away, with acknowledgements and events. The provider is a server that only answers,
/// in a process of its own: the strict simulators would limit the rate.
public final class GatewayBench {
  private static final List<String> PARTS =
      List.of("single", "messages", "devices", "queue", "singles");
  private static final int DEVICES = 2_000;
  private static final int WARM_UP_SECONDS = 30;
  private static final double SINGLE_GOAL = 100;
  private static final double BATCH_GOAL = 45;

  private final Run run;
  private final Findings findings = new Findings();
  private final WorkerFigures worker;
  private final WholeWay wholeWay;
  private final FromTheQueue fromTheQueue;

  private GatewayBench(Run run, Target target, List<DeviceId> devices, WorkerFigures worker) {
    this.run = run;
    this.worker = worker;
    wholeWay = new WholeWay(run, findings, target, devices, worker);
    fromTheQueue = new FromTheQueue(run, findings, target, devices, worker, delay(run));
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
        WorkerFigures worker = new WorkerFigures(channel, platform, mysql);
        return new GatewayBench(run, target, devices, worker).measure(parts);
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
    wholeWay.send(Shape.SINGLE, warmUp);
    wholeWay.send(Shape.MESSAGES, warmUp);
    if (parts.contains("single")) {
      wholeWay.measure(Shape.SINGLE, SINGLE_GOAL);
    }
    if (parts.contains("messages")) {
      wholeWay.measure(Shape.MESSAGES, BATCH_GOAL);
    }
    if (parts.contains("devices")) {
      wholeWay.measure(Shape.DEVICES, BATCH_GOAL);
    }
    if (parts.contains("queue")) {
      run.out().println("from a full queue");
      fromTheQueue.measure(Shape.MESSAGES, "first");
      fromTheQueue.measure(Shape.MESSAGES, "second");
    }
    if (parts.contains("singles")) {
      run.out().println("from a full queue, accepted one by one");
      fromTheQueue.measure(Shape.SINGLE, "one by one, first");
      fromTheQueue.measure(Shape.SINGLE, "one by one, second");
    }
    findings.row("accepted, but not delivered once", "messages", worker.lost());
    findings.require(worker.lost() == 0);
    return findings.result();
  }
}
