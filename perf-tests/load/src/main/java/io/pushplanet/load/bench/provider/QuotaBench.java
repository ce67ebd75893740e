package io.pushplanet.load.bench.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One message to every device of an app, over FCM, with a project's quota that the simulator
/// enforces: how much of the quota is used, how many requests are answered 429, and how long a
/// `high` message of the same app takes meanwhile from its accept to FCM's answer.
///
/// There are several broadcasts. At the first one all programs have just started, and the compilers
/// of all of them, the simulator's too, share the processors. Before the second one the worker is
/// restarted, as an update does it. Then it stays.
///
/// It runs the whole platform on the real clock, with a smaller quota than Google's 600,000 a
/// minute; `TenMillionMessagesIT` sends ten million messages with that one, on virtual time.
public final class QuotaBench {
  private static final int HIGH_CLIENTS = 8;
  private static final Duration RAMP = Duration.ofSeconds(60);
  private static final Duration ASKED_EVERY = Duration.ofMillis(500);
  private static final Duration AT_MOST = Duration.ofHours(1);

  /// For what waited while the worker restarted.
  private static final Duration CAUGHT_UP_AFTER = Duration.ofSeconds(5);

  private static final Duration QUIET_WITHIN = Duration.ofSeconds(120);
  private static final String HIGH =
      "{\"route\":\"vendor\",\"priority\":\"high\",\"ttl\":\"PT1H\"}";
  private static final String WHOLE_WAY = "pushplanet_accept_to_outcome_seconds";

  private final Run run;
  private final OwnPlatform platform;
  private final Path directory;
  private final Target target;
  private final int workerPort;
  private final List<DeviceId> devices;
  private final int perMinute;
  private final int highPerSecond;
  private final int broadcasts;

  /// @param delivered of the broadcast
  /// @param high messages accepted
  record Sample(long nanos, long delivered, long high) {}

  private QuotaBench(
      Run run,
      OwnPlatform platform,
      List<DeviceId> devices,
      int perMinute,
      int highPerSecond,
      int broadcasts) {
    this.run = run;
    this.platform = platform;
    this.directory = platform.directory();
    this.target = platform.target();
    this.workerPort = platform.workerPort();
    this.devices = devices;
    this.perMinute = perMinute;
    this.highPerSecond = highPerSecond;
    this.broadcasts = broadcasts;
  }

  public static Result measure(Run run) {
    int devices = run.number("devices", 100_000);
    int perMinute = run.number("per-minute", 60_000);
    int high = run.number("high", 10);
    int broadcasts = run.number("broadcasts", 3);
    Map<String, String> settings =
        Map.of(
            "gateway.fcm.messages-per-minute",
            Integer.toString(perMinute),
            // Bulk would rest around the quarters of the hour.
            "gateway.fcm.quarter-hour-margin",
            "0s");
    try (OwnPlatform platform =
        OwnPlatform.start(run, Set.of(Program.CONNECTION_MANAGER, Program.DASHBOARD), settings)) {
      run.say("registering %,d devices", devices);
      List<DeviceId> registered =
          Population.register(platform.target(), run.name(), Map.of(Channel.FCM, devices))
              .of(Channel.FCM);
      return new QuotaBench(run, platform, registered, perMinute, high, broadcasts).measure();
    }
  }

  /// One broadcast and the `high` messages beside it.
  private record Round(String name, Meters before, Meters after, List<Sample> samples) {
    /// In milliseconds.
    double high(double share) {
      return highSince(before, share);
    }

    double highSince(Meters then, double share) {
      return 1_000
          * after.quantileSince(then, share, WHOLE_WAY, "channel=\"fcm\"", "priority=\"high\"");
    }

    double seconds() {
      return (samples.getLast().nanos() - samples.getFirst().nanos()) / 1e9;
    }
  }

  private Result measure() {
    String quota = "{\"project_minute\":" + perMinute + "}";
    HttpConnection.ask(target.simulatorsUrl(), "PUT", "/fcm/quotas", "", quota);
    try (AcceptedJournal journal = new AcceptedJournal(directory.resolve("high.journal"))) {
      Traffic traffic =
          new Traffic(target, journal, run.name() + "-high", devices, HIGH, (_, _, _) -> {});
      List<Round> rounds = new ArrayList<>();
      try (Traffic.Running _ = traffic.runBeside(HIGH_CLIENTS, highPerSecond, AT_MOST)) {
        // Their code is cold: their first requests do not count.
        pause(run.measured());
        for (int number = 1; number <= broadcasts; number++) {
          String name = "broadcast " + number + state(number);
          run.say("%s", name);
          if (number == 2) {
            platform.platform().restart(Program.WORKER);
            pause(CAUGHT_UP_AFTER);
          }
          rounds.add(round(name, journal));
        }
      }
      Account account =
          new Auditor(target)
              .auditWhenQuiet(AcceptedJournal.read(journal.file()), Optional.empty(), QUIET_WITHIN);
      return result(rounds, account);
    }
  }

  private static String state(int number) {
    return switch (number) {
      case 1 -> " (all just started)";
      case 2 -> " (worker just restarted)";
      default -> "";
    };
  }

  private Round round(String name, AcceptedJournal journal) {
    Meters before = Meters.of(workerPort);
    long start = System.nanoTime();
    List<Sample> samples = follow(broadcast(), journal, start);
    return new Round(name, before, Meters.of(workerPort), samples);
  }

  private Result result(List<Round> rounds, Account high) {
    HttpAnswer summary =
        HttpConnection.ask(target.simulatorsUrl(), "GET", "/ledger/summary", "", "");
    long all = 0;
    long taken = 0;
    long tooMany = 0;
    for (JsonNode kind : json(summary).path("by")) {
      if (kind.path("provider").asString("").equals("fcm")) {
        all += kind.path("count").asLong();
        taken += kind.path("delivered").asBoolean(false) ? kind.path("count").asLong() : 0;
        tooMany += kind.path("status").asInt() == 429 ? kind.path("count").asLong() : 0;
      }
    }
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("quota", "1/min", perMinute));
    for (Round round : rounds) {
      rows.addAll(rows(round));
    }
    if (rounds.size() > 1) {
      // A restart begins the meters anew.
      double p99 = rounds.getLast().highSince(rounds.get(1).before(), 0.99);
      rows.add(
          new Report.Row(
              "from broadcast 2 on, high: accept to FCM's answer p99",
              "ms",
              Math.round(p99),
              null,
              1_000.0));
    }
    rows.add(Report.Row.of("requests to FCM", "requests", all));
    rows.add(
        new Report.Row(
            "answered 429", "%", Math.round(1e5 * tooMany / Math.max(1, all)) / 1e3, null, 0.1));
    rows.add(Report.Row.of("high messages meanwhile", "messages", high.messages()));
    long delivered =
        rounds.stream().mapToLong(round -> round.samples().getLast().delivered()).sum();
    long asked = (long) rounds.size() * devices.size();
    long surplus = taken - asked - high.messages();
    rows.add(Report.Row.of("accepted by FCM beyond one for each message", "requests", surplus, 0));
    // The ledger also has the broadcasts, which would be strangers in the account of the high
    // messages.
    boolean balances =
        high.lost().isEmpty()
            && high.phantoms().isEmpty()
            && high.total().delivered() == high.messages()
            && delivered == asked
            && surplus == 0;
    rows.add(Report.Row.of("all arrived, the account balances", "1 = yes", balances ? 1 : 0, 1));
    return new Result(rows, balances);
  }

  private List<Report.Row> rows(Round round) {
    String broadcast = round.name();
    List<Report.Row> rows = new ArrayList<>();
    rows.add(
        Report.Row.of(
            broadcast + ", devices that it reached",
            "devices",
            round.samples().getLast().delivered(),
            devices.size()));
    rows.add(
        Report.Row.of(broadcast + ", from its request to its last answer", "s", round.seconds()));
    used(round.samples(), devices.size(), perMinute)
        .ifPresentOrElse(
            used ->
                rows.add(
                    Report.Row.of(
                        broadcast + ", quota used after its first minute", "%", used, 95.0)),
            () ->
                run.say(
                    "the %s was over before the ramp: more --devices, or fewer --per-minute,"
                        + " tell how much of the quota is used",
                    broadcast));
    rows.add(
        Report.Row.of(
            broadcast + ", high: accept to FCM's answer p50", "ms", Math.round(round.high(0.5))));
    rows.add(
        new Report.Row(
            broadcast + ", high: accept to FCM's answer p99",
            "ms",
            Math.round(round.high(0.99)),
            null,
            1_000.0));
    return rows;
  }

  /// The used part of the quota between the end of the ramp and nine tenths of the broadcast, in
  /// percent, with both of the app's messages. Empty when the broadcast ended before.
  static OptionalDouble used(List<Sample> samples, int devices, int perMinute) {
    long start = samples.getFirst().nanos() + RAMP.toNanos();
    long enough = devices * 9L / 10;
    List<Sample> counted =
        samples.stream()
            .filter(sample -> sample.nanos() >= start && sample.delivered() <= enough)
            .toList();
    if (counted.size() < 2) {
      return OptionalDouble.empty();
    }
    Sample first = counted.getFirst();
    Sample last = counted.getLast();
    double seconds = (last.nanos() - first.nanos()) / 1e9;
    double sent = last.delivered() - first.delivered() + last.high() - first.high();
    return OptionalDouble.of(Math.round(sent / seconds / (perMinute / 60.0) * 1e4) / 100.0);
  }

  private String broadcast() {
    String body =
        "{\"audience\":{\"all\":true},\"content\":{\"title\":\"News\",\"body\":\"For everybody\"},"
            + "\"delivery\":{\"route\":\"vendor\",\"priority\":\"normal\",\"ttl\":\"PT2H\"}}";
    return api("POST", "/messages", body).path("id").asString("");
  }

  private List<Sample> follow(String broadcast, AcceptedJournal high, long start) {
    List<Sample> samples = new ArrayList<>(List.of(new Sample(start, 0, high.messages())));
    double expected = 60.0 * devices.size() / perMinute;
    long deadline = start + RAMP.multipliedBy(3).toNanos() + (long) (2 * expected * 1e9);
    long told = start;
    while (samples.getLast().delivered() < devices.size() && System.nanoTime() - deadline < 0) {
      pause(ASKED_EVERY);
      samples.add(new Sample(System.nanoTime(), delivered(broadcast), high.messages()));
      if (System.nanoTime() - told > Duration.ofSeconds(10).toNanos()) {
        told = System.nanoTime();
        run.say(
            "  %,d of %,d after %.0f s",
            samples.getLast().delivered(), devices.size(), (told - start) / 1e9);
      }
    }
    return samples;
  }

  private long delivered(String broadcast) {
    return api("GET", "/messages/" + broadcast, "").path("counts").path("delivered").asLong();
  }

  private JsonNode api(String method, String path, String body) {
    String app = "/v1/apps/" + target.app().value();
    return json(
        HttpConnection.ask(
            target.dispatcherUrl(), method, app + path, target.apiKey().reveal(), body));
  }

  private static JsonNode json(HttpAnswer answer) {
    return JsonMapper.shared().readTree(answer.body());
  }

  private static void pause(Duration time) {
    LockSupport.parkNanos(time.toNanos());
  }
}
