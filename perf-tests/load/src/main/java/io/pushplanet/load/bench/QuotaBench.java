package io.pushplanet.load.bench;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Listener;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Ports;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.services.Port;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One message to every device of an app, over FCM, against a project's quota that the simulator enforces: how much of the quota
/// is used, how many requests are answered 429, and how long a `high` message of the same app takes meanwhile from its accept
/// to FCM's answer. The whole platform on the real clock, with a smaller quota than Google's 600,000 a minute; ten million
/// messages against that one are `TenMillionMessagesIT`, on virtual time.
final class QuotaBench {
  private static final int HIGH_CLIENTS = 8;
  private static final Duration RAMP = Duration.ofSeconds(60);
  private static final Duration ASKED_EVERY = Duration.ofMillis(500);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);
  private static final Duration QUIET_WITHIN = Duration.ofSeconds(120);
  private static final String HIGH =
      "{\"route\":\"vendor\",\"priority\":\"high\",\"ttl\":\"PT1H\"}";
  private static final String WHOLE_WAY = "pushplanet_accept_to_outcome_seconds";

  private static final byte[] EMPTY = {'{', '}'};

  private final Run run;
  private final Path directory;
  private final Target target;
  private final int workerPort;
  private final List<DeviceId> devices;
  private final int perMinute;
  private final int highPerSecond;

  private record Sample(long nanos, long delivered) {}

  private QuotaBench(
      Run run,
      Path directory,
      Target target,
      int workerPort,
      List<DeviceId> devices,
      int perMinute,
      int highPerSecond) {
    this.run = run;
    this.directory = directory;
    this.target = target;
    this.workerPort = workerPort;
    this.devices = devices;
    this.perMinute = perMinute;
    this.highPerSecond = highPerSecond;
  }

  static Benchmark.Result measure(Run run) {
    int devices = run.option("devices").map(Integer::parseInt).orElse(100_000);
    int perMinute = run.option("per-minute").map(Integer::parseInt).orElse(60_000);
    int high = run.option("high").map(Integer::parseInt).orElse(10);
    Path directory = run.directory().resolve(run.name()).toAbsolutePath();
    int workerPort = Port.free();
    Plan plan =
        new Plan(
            run.root(),
            directory,
            ServicesChoice.AUTO,
            null,
            Ports.free(Map.of(Listener.WORKER_MANAGEMENT, workerPort)),
            Set.of(Program.CONNECTION_MANAGER, Program.DASHBOARD),
            Map.of(
                "gateway.fcm.messages-per-minute",
                Integer.toString(perMinute),
                // Bulk would rest around the quarters of the hour.
                "gateway.fcm.quarter-hour-margin",
                "0s"));
    try (Platform _ = Platform.start(plan, line -> run.out().println(line))) {
      Target target = Target.of(directory.resolve("quickstart.json"));
      run.out().printf(Locale.ROOT, "registering %,d devices%n", devices).flush();
      List<DeviceId> registered = Population.register(target, run.name(), 0, 0, devices).fcm();
      return new QuotaBench(run, directory, target, workerPort, registered, perMinute, high)
          .measure();
    }
  }

  private Benchmark.Result measure() {
    exchange(
        target.simulatorsUrl(),
        "PUT",
        "/fcm/quotas",
        "",
        "{\"project_minute\":" + perMinute + "}",
        204);
    try (AcceptedJournal journal = new AcceptedJournal(directory.resolve("high.journal"))) {
      AtomicBoolean done = new AtomicBoolean();
      Traffic traffic =
          new Traffic(target, journal, run.name() + "-high", devices, HIGH, (_, _, _) -> {});
      Traffic.Gate paced =
          Traffic.Gate.paced(highPerSecond, System.nanoTime() + Duration.ofHours(1).toNanos());
      Thread senders =
          Thread.ofPlatform()
              .start(() -> traffic.run(HIGH_CLIENTS, () -> !done.get() && paced.next()));
      // Their code is cold: what they take before the broadcast is not what is asked.
      pause(run.each());
      Meters before = Meters.of(workerPort);
      long start = System.nanoTime();
      String broadcast = broadcast();
      List<Sample> samples = follow(broadcast, start);
      Meters after = Meters.of(workerPort);
      done.set(true);
      join(senders);
      Account account =
          new Auditor(target)
              .auditWhenQuiet(AcceptedJournal.read(journal.file()), Optional.empty(), QUIET_WITHIN);
      return result(before, after, samples, account, delivered(broadcast));
    }
  }

  private Benchmark.Result result(
      Meters before, Meters after, List<Sample> samples, Account high, long delivered) {
    JsonNode summary = exchange(target.simulatorsUrl(), "GET", "/ledger/summary", "", "", 200);
    long all = 0;
    long tooMany = 0;
    for (JsonNode kind : summary.path("by")) {
      if (kind.path("provider").asString("").equals("fcm")) {
        all += kind.path("count").asLong();
        tooMany += kind.path("status").asInt() == 429 ? kind.path("count").asLong() : 0;
      }
    }
    List<Report.Row> rows = new ArrayList<>();
    rows.add(
        new Report.Row(
            "devices that the broadcast reached",
            "devices",
            delivered,
            null,
            1.0 * devices.size()));
    rows.add(
        Report.Row.of(
            "broadcast, from its request to its last answer",
            "s",
            (samples.getLast().nanos() - samples.getFirst().nanos()) / 1e9));
    rows.add(Report.Row.of("quota", "1/min", perMinute));
    rows.add(
        new Report.Row("quota used after the ramp of a minute", "%", used(samples), null, 95.0));
    rows.add(Report.Row.of("requests to FCM", "requests", all));
    rows.add(
        new Report.Row(
            "answered 429", "%", Math.round(1e5 * tooMany / Math.max(1, all)) / 1e3, null, 0.1));
    rows.add(Report.Row.of("high messages meanwhile", "messages", high.messages()));
    for (double share : new double[] {0.5, 0.99}) {
      double millis =
          1_000
              * after.quantileSince(
                  before, share, WHOLE_WAY, "channel=\"fcm\"", "priority=\"high\"");
      rows.add(
          new Report.Row(
              "high: accept to FCM's answer p" + Math.round(share * 100),
              "ms",
              Math.round(millis),
              null,
              share > 0.9 ? 1_000.0 : null));
    }
    // The ledger has the broadcast, too, which is a stranger to the account of the high messages.
    boolean balances =
        high.lost().isEmpty()
            && high.phantoms().isEmpty()
            && high.total().delivered() == high.messages()
            && delivered == devices.size();
    rows.add(
        new Report.Row(
            "all arrived, the account balances", "1 = yes", balances ? 1 : 0, null, 1.0));
    return new Benchmark.Result(rows, balances);
  }

  /// Of what the quota allows between the end of the ramp and nine tenths of the broadcast, both of the app's messages counted.
  private double used(List<Sample> samples) {
    long start = samples.getFirst().nanos() + RAMP.toNanos();
    long enough = devices.size() * 9L / 10;
    List<Sample> counted =
        samples.stream()
            .filter(sample -> sample.nanos() >= start && sample.delivered() <= enough)
            .toList();
    if (counted.size() < 2) {
      throw new IllegalArgumentException(
          "the broadcast was over before the ramp: more --devices, or fewer --per-minute");
    }
    double seconds = (counted.getLast().nanos() - counted.getFirst().nanos()) / 1e9;
    double sent = counted.getLast().delivered() - counted.getFirst().delivered();
    return Math.round((sent / seconds + highPerSecond) / (perMinute / 60.0) * 1e4) / 100.0;
  }

  private String broadcast() {
    String body =
        "{\"audience\":{\"all\":true},\"content\":{\"title\":\"News\",\"body\":\"For everybody\"},"
            + "\"delivery\":{\"route\":\"vendor\",\"priority\":\"normal\",\"ttl\":\"PT2H\"}}";
    JsonNode answer = api("POST", "/messages", body, 202);
    return answer.path("id").asString("");
  }

  private List<Sample> follow(String broadcast, long start) {
    List<Sample> samples = new ArrayList<>(List.of(new Sample(start, 0)));
    double expected = 60.0 * devices.size() / perMinute;
    long deadline = start + RAMP.multipliedBy(3).toNanos() + (long) (2 * expected * 1e9);
    long told = start;
    while (samples.getLast().delivered() < devices.size() && System.nanoTime() - deadline < 0) {
      pause(ASKED_EVERY);
      samples.add(new Sample(System.nanoTime(), delivered(broadcast)));
      if (System.nanoTime() - told > Duration.ofSeconds(10).toNanos()) {
        told = System.nanoTime();
        run.out()
            .printf(
                Locale.ROOT,
                "  %,d of %,d after %.0f s%n",
                samples.getLast().delivered(),
                devices.size(),
                (told - start) / 1e9)
            .flush();
      }
    }
    return samples;
  }

  private long delivered(String broadcast) {
    return api("GET", "/messages/" + broadcast, "", 200).path("counts").path("delivered").asLong();
  }

  private JsonNode api(String method, String path, String body, int expected) {
    return exchange(
        target.dispatcherUrl(),
        method,
        "/v1/apps/" + target.app().value() + path,
        target.apiKey().reveal(),
        body,
        expected);
  }

  private static JsonNode exchange(
      URI server, String method, String path, String key, String body, int expected) {
    try (HttpConnection connection = new HttpConnection(server, ANSWER_WITHIN)) {
      HttpAnswer answer =
          connection.exchange(
              HttpConnection.request(
                  method, server, path, key, body.getBytes(StandardCharsets.UTF_8)));
      if (answer.status() != expected) {
        throw new IllegalStateException(
            method + " " + path + " was answered " + answer.status() + ": " + answer.text());
      }
      return JsonMapper.shared().readTree(answer.body().length == 0 ? EMPTY : answer.body());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot ask " + server, e);
    }
  }

  private static void pause(Duration time) {
    LockSupport.parkNanos(time.toNanos());
  }

  private static void join(Thread senders) {
    try {
      senders.join(Duration.ofSeconds(60));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
