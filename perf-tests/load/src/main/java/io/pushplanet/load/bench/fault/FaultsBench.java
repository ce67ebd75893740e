package io.pushplanet.load.bench.fault;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.audit.Repeats;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.Meters;
import io.pushplanet.load.node.PlatformProcess;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/// The platform with several workers under an even load to all providers, a quarter each: first the
/// providers misbehave in every way they can, then workers are killed again and again. The run is
/// cut into legs, each with a journal and an account of its own, and notifications accepted twice
/// are counted.
///
/// A provider may accept a notification twice only where the first acceptance cannot be known: at a
/// kill, the unacknowledged messages of the dead worker (counted by the worker that gets them
/// next), and where a provider accepts a notification without an answer. Both notifications must
/// carry the same collapse id.
public final class FaultsBench {
  private static final int CLIENTS = 32;
  private static final int KILLS_PER_LEG = 25;

  /// With this many starts ahead each start should be fast: making the class caches takes as long
  /// as some starts.
  private static final int WORTH_TRAINING = 10;

  private static final Duration BETWEEN_FAULTS = Duration.ofMillis(300);
  private static final Duration QUIET_WITHIN = Duration.ofSeconds(180);
  private static final Duration LONGEST_LEG = Duration.ofMinutes(30);
  private static final String DELIVERY = "{\"route\":\"vendor\",\"ttl\":\"PT1H\"}";
  private static final String REDELIVERED = "pushplanet_redelivered_total";

  private static final List<Channel> PROVIDERS =
      List.of(Channel.APNS, Channel.FCM, Channel.HMS, Channel.WEBPUSH);

  /// A provider's misbehaviour with one request.
  ///
  /// @param fates in the simulators' words
  /// @param takenEach how many notifications one such fault may duplicate: 1 where the provider
  ///     accepts it without an answer
  private record Kind(String name, Map<Channel, String> fates, int takenEach) {
    /// The same for all providers.
    Kind(String name, String everywhere, int takenEach) {
      this(
          name,
          PROVIDERS.stream().collect(Collectors.toMap(provider -> provider, _ -> everywhere)),
          takenEach);
    }

    /// An answer that each provider gives in its own words.
    static Kind answer(String name, String apns, String fcm, String hms, String webpush) {
      return new Kind(
          name,
          Map.of(Channel.APNS, apns, Channel.FCM, fcm, Channel.HMS, hms, Channel.WEBPUSH, webpush),
          0);
    }

    /// @param provider that has all kinds
    String scenario(Channel provider) {
      return provider.word() + " next 1 " + fates.get(provider);
    }
  }

  private static final List<Kind> KINDS =
      List.of(
          new Kind("goaway", "goaway Shutdown", 0),
          new Kind("refused-stream", "refuse", 0),
          new Kind("reset", "reset", 0),
          new Kind("silence", "silence", 0),
          new Kind("cut", "drop", 0),
          Kind.answer(
              "server-error",
              "answer 500 InternalServerError",
              "answer 500 INTERNAL",
              "answer 500 81000001",
              "answer 500"),
          Kind.answer(
              "unavailable",
              "answer 503 ServiceUnavailable",
              "answer 503 UNAVAILABLE retry-after 1s",
              "answer 503 retry-after 1s",
              "answer 503 retry-after 1s"),
          Kind.answer(
              "too-many-requests",
              "answer 429 TooManyRequests",
              "answer 429 QUOTA_EXCEEDED retry-after 1s",
              "answer 429 retry-after 1s",
              "answer 429 retry-after 1s"),
          Kind.answer(
              "pieces",
              "trickle 1s 503 ServiceUnavailable",
              "trickle 1s 503 UNAVAILABLE",
              "trickle 1s 503",
              "trickle 1s 503"),
          new Kind("html", "html 502", 0),
          new Kind("slow", "answer delay 2s", 0),
          new Kind("taken-then-silence", "silence delivered", 1),
          new Kind("taken-then-reset", "reset delivered", 1));

  private final Run run;
  private final Path directory;
  private final List<PlatformProcess> workers;
  private final Target target;
  private final List<Channel> providers;
  private final List<DeviceId> devices;
  private final double perSecond;
  private final long faultsUntilNanos;
  private final Random random = new Random();
  private final List<Report.Row> rows = new ArrayList<>();
  private final Histogram restarts = new Histogram(600_000, 3);
  private boolean balances = true;
  private int kills;
  private long messages;
  private long lost;
  private long failed;
  private long notMergeable;
  private long takenAgainAfterKills;
  private long unansweredAtKills;

  private interface Faults {
    void happen() throws InterruptedException;
  }

  private FaultsBench(
      Run run,
      OwnPlatform platform,
      List<PlatformProcess> workers,
      List<Channel> providers,
      List<DeviceId> devices,
      double perSecond,
      Duration atMost) {
    this.run = run;
    this.directory = platform.directory();
    this.target = platform.target();
    this.workers = workers;
    this.providers = providers;
    this.devices = devices;
    this.perSecond = perSecond;
    this.faultsUntilNanos = System.nanoTime() + atMost.toNanos();
  }

  public static Result measure(Run run) {
    int kills = run.number("kills", 100);
    int each = run.number("each", 30);
    int devices = run.number("devices", 1_000);
    List<Kind> kinds = each == 0 ? List.of() : chosen(run, "kinds", KINDS, Kind::name);
    List<Channel> providers = chosen(run, "providers", PROVIDERS, Channel::word);
    List<PlatformProcess> workers = new ArrayList<>();
    try (OwnPlatform own =
        OwnPlatform.start(
            run, Set.of(Program.WORKER, Program.CONNECTION_MANAGER, Program.DASHBOARD), Map.of())) {
      try {
        Platform platform = own.platform();
        if (kills >= WORTH_TRAINING) {
          platform.train(Program.WORKER);
        }
        IntStream.range(0, run.number("workers", 2))
            .forEach(n ->
                workers.add(
                    new PlatformProcess(platform, Program.WORKER, "worker-" + n, Map.of())));
        workers.forEach(PlatformProcess::start);
        Population population =
            Population.register(
                own.target(),
                run.name(),
                providers.stream()
                    .collect(
                        Collectors.toMap(
                            provider -> provider, _ -> Math.max(1, devices / providers.size()))));
        return new FaultsBench(
                run,
                own,
                workers,
                providers,
                population.shuffled(),
                run.number("rate", 500),
                Duration.ofMinutes(run.number("minutes", 40)))
            .measure(kills, kinds, each);
      } finally {
        workers.forEach(PlatformProcess::close);
      }
    }
  }

  private Result measure(int mostKills, List<Kind> kinds, int each) {
    // The workers' code and connections are cold, and their first faults would otherwise count.
    leg("warm-up", () -> TimeUnit.SECONDS.sleep(run.number("warm-up", 10)), Long.MAX_VALUE);
    for (Kind kind : kinds) {
      long most = (long) providers.size() * each * kind.takenEach();
      Repeats twice = leg(kind.name(), () -> misbehave(kind, each), most);
      rows.add(
          Report.Row.of(
              "taken twice: " + kind.name() + ", " + each + " times at each provider",
              "messages",
              twice.times(),
              most));
    }
    for (int done = 0; done < mostKills && goesOn(); done += KILLS_PER_LEG) {
      int now = Math.min(KILLS_PER_LEG, mostKills - done);
      run.say("killed: %,d of %,d", done, mostKills);
      double handedOutBefore = unansweredAtKills + redelivered();
      // The allowed number of duplicates is known only when the leg has ended.
      Repeats twice = leg("kills from " + done, () -> kill(now), Long.MAX_VALUE);
      double handedOut = unansweredAtKills + redelivered() - handedOutBefore;
      balances &= twice.times() <= handedOut;
      takenAgainAfterKills += twice.times();
      run.say("  unanswered at the kills %,.0f, taken again %,d", handedOut, twice.times());
    }
    rows.add(Report.Row.of("workers killed (kill -9)", "kills", kills, mostKills));
    rows.add(Report.Row.of("killed to ready p50", "ms", restarts.getValueAtPercentile(50)));
    double unanswered = unansweredAtKills + redelivered();
    rows.add(Report.Row.of("unanswered at the kills", "messages", unanswered));
    rows.add(
        Report.Row.of(
            "  of them taken twice by a provider", "messages", takenAgainAfterKills, unanswered));
    rows.add(Report.Row.of("messages accepted", "messages", messages));
    rows.add(Report.Row.of("lost", "messages", lost, 0));
    rows.add(Report.Row.of("failed", "messages", failed, 0));
    rows.add(
        Report.Row.of("taken twice without the same collapse id", "messages", notMergeable, 0));
    rows.add(Report.Row.of("the account balances", "1 = yes", balances ? 1 : 0, 1));
    return new Result(rows, balances && kills == mostKills);
  }

  /// Past the run's time no worker is killed any more; the account of the earlier kills is made
  /// nevertheless.
  private boolean goesOn() {
    return System.nanoTime() - faultsUntilNanos < 0;
  }

  /// @param option names some of them, separated by commas; without it, all of them
  private static <T> List<T> chosen(Run run, String option, List<T> all, Function<T, String> name) {
    List<String> names = all.stream().map(name).toList();
    return run.some(option, String.join(",", names), names).stream()
        .map(one -> all.get(names.indexOf(one)))
        .toList();
  }

  // The faults

  private void misbehave(Kind kind, int each) throws InterruptedException {
    for (int i = 0; i < each; i++) {
      simulators(
          "POST",
          "/scenario",
          providers.stream().map(kind::scenario).collect(Collectors.joining("\n")));
      TimeUnit.NANOSECONDS.sleep(BETWEEN_FAULTS.toNanos());
    }
  }

  private void kill(int count) throws InterruptedException {
    for (int i = 0; i < count && goesOn(); i++) {
      TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(1_500));
      PlatformProcess worker = workers.get(kills % workers.size());
      // Its share of other workers' leftovers is lost with it.
      unansweredAtKills += Math.round(redelivered(worker));
      long start = System.nanoTime();
      worker.kill9();
      worker.start();
      restarts.recordValue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
      kills++;
    }
  }

  private double redelivered() {
    return workers.stream().mapToDouble(FaultsBench::redelivered).sum();
  }

  private static double redelivered(PlatformProcess worker) {
    return Meters.of(worker.managementPort(), REDELIVERED).sum(REDELIVERED);
  }

  private void simulators(String method, String path, String body) {
    HttpConnection.ask(target.simulatorsUrl(), method, path, "", body);
  }

  // A leg

  /// @param mostTwice how many notifications providers may have accepted again
  private Repeats leg(String name, Faults faults, long mostTwice) {
    String file = name.replaceAll("[^A-Za-z0-9]+", "-");
    try (AcceptedJournal journal = new AcceptedJournal(directory.resolve(file + ".journal"))) {
      Traffic traffic =
          new Traffic(target, journal, run.name() + "-" + file, devices, DELIVERY, (_, _, _) -> {});
      try (Traffic.Running _ = traffic.runBeside(CLIENTS, perSecond, LONGEST_LEG)) {
        TimeUnit.SECONDS.sleep(1);
        faults.happen();
      }
      simulators("DELETE", "/script", "");
      return audit(name, journal, traffic, mostTwice);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private Repeats audit(String name, AcceptedJournal journal, Traffic traffic, long mostTwice) {
    long began = System.nanoTime();
    Account account =
        new Auditor(target)
            .auditWhenQuiet(AcceptedJournal.read(journal.file()), Optional.empty(), QUIET_WITHIN);
    Repeats twice = Repeats.of(target.simulatorsUrl());
    // Each leg has its own ledger: a later notification of this leg would be a stranger in the next
    // one's account.
    simulators("DELETE", "/ledger", "");
    messages += account.messages();
    lost += account.lost().size();
    failed += account.total().failed();
    notMergeable += twice.notMergeable();
    boolean good =
        account.balances()
            && account.total().failed() == 0
            && twice.notMergeable() == 0
            && twice.times() <= mostTwice;
    balances &= good;
    run.say(
        "%-24s %,7d accepted, %,7d delivered, %d lost, %d failed, taken twice %d, not accepted %s;"
            + " quiet after %.1f s",
        name,
        account.messages(),
        account.total().delivered(),
        account.lost().size(),
        account.total().failed(),
        twice.times(),
        traffic.refusals(),
        (System.nanoTime() - began) / 1e9);
    if (!good) {
      run.out().print(account.text());
    }
    return twice;
  }
}
