package io.pushplanet.load.bench.fault;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Repeats;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.EvenLoad.Faults;
import io.pushplanet.load.bench.fault.EvenLoad.Leg;
import io.pushplanet.load.bench.fault.EvenLoad.Shape;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.PlatformProcess;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.json.JsonMapper;

/// The platform with several workers under an even load to all providers, a quarter each: first the
/// providers misbehave in every way they can, then workers are killed again and again.
/// Notifications accepted twice are counted.
///
/// A provider may accept a notification twice only where the first acceptance cannot be known: at a
/// kill, the unacknowledged messages of the dead worker (counted by the worker that gets them
/// next), and where a provider accepts a notification without an answer. Both notifications must
/// carry the same collapse id.
public final class FaultsBench {
  private static final String DELIVERY = "{\"route\":\"vendor\",\"ttl\":\"PT1H\"}";
  private static final int CLIENTS = 32;
  private static final int RATE = 500;
  private static final int KILLS_PER_LEG = 25;

  /// With this many starts ahead each start should be fast: making the class caches takes as long
  /// as some starts.
  private static final int WORTH_TRAINING = 10;

  private static final Duration BETWEEN_FAULTS = Duration.ofMillis(300);
  private static final Duration MET_WITHIN = Duration.ofMinutes(2);

  private final Run run;
  private final Target target;
  private final List<Channel> providers;
  private final EvenLoad load;
  private final ProviderAccount account;
  private final WorkerKills kills;
  private final List<Report.Row> rows = new ArrayList<>();

  private FaultsBench(
      Run run,
      OwnPlatform platform,
      List<PlatformProcess> workers,
      List<Channel> providers,
      List<DeviceId> devices) {
    this.run = run;
    this.target = platform.target();
    this.providers = providers;
    load = new EvenLoad(run, platform, new Shape(devices, DELIVERY, CLIENTS, RATE));
    account = new ProviderAccount(run, target);
    kills = new WorkerKills(load, workers, new Random());
  }

  public static Result measure(Run run) {
    int mostKills = run.number("kills", 100);
    int each = run.number("each", 30);
    int devices = run.number("devices", 1_000);
    List<Misbehaviour> kinds =
        each == 0 ? List.of() : chosen(run, "kinds", Misbehaviour.ALL, Misbehaviour::name);
    List<Channel> providers = chosen(run, "providers", Misbehaviour.PROVIDERS, Channel::word);
    List<PlatformProcess> workers = new ArrayList<>();
    try (OwnPlatform own =
        OwnPlatform.start(
            run, Set.of(Program.WORKER, Program.CONNECTION_MANAGER, Program.DASHBOARD), Map.of())) {
      try {
        Platform platform = own.platform();
        if (mostKills >= WORTH_TRAINING) {
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
        return new FaultsBench(run, own, workers, providers, population.shuffled())
            .measure(kinds, each, mostKills);
      } finally {
        workers.forEach(PlatformProcess::close);
      }
    }
  }

  /// @param option names some of them, separated by commas; without it, all of them
  private static <T> List<T> chosen(Run run, String option, List<T> all, Function<T, String> name) {
    List<String> names = all.stream().map(name).toList();
    return run.some(option, String.join(",", names), names).stream()
        .map(one -> all.get(names.indexOf(one)))
        .toList();
  }

  private Result measure(List<Misbehaviour> kinds, int each, int mostKills) {
    // The workers' code and connections are cold, and their first faults would otherwise count.
    leg("warm-up", _ -> TimeUnit.SECONDS.sleep(run.number("warm-up", 10)), Long.MAX_VALUE);
    kinds.forEach(kind -> misbehave(kind, each));
    long takenAgain = kill(mostKills);
    account.awaitPutOff();
    rows.addAll(kills.rows(mostKills));
    double unanswered = kills.unanswered();
    rows.add(Report.Row.of("unanswered at the kills", "messages", unanswered));
    rows.add(
        Report.Row.of("  of them taken twice by a provider", "messages", takenAgain, unanswered));
    rows.addAll(account.rows());
    return new Result(rows, account.holds() && kills.count() == mostKills);
  }

  private void misbehave(Misbehaviour kind, int each) {
    long wanted = (long) providers.size() * each;
    long most = wanted * kind.takenEach();
    long[] unmet = new long[1];
    Faults faults =
        _ -> {
          for (int i = 0; i < each; i++) {
            simulators("POST", "/scenario", kind.scenario(providers));
            TimeUnit.NANOSECONDS.sleep(BETWEEN_FAULTS.toNanos());
          }
          unmet[0] = awaitMet();
        };
    Repeats twice = leg(kind.name(), faults, most);
    String what = kind.name() + ", " + each + " times at each provider";
    rows.add(Report.Row.of("happened: " + what, "faults", wanted - unmet[0], wanted));
    account.require(unmet[0] == 0);
    rows.add(Report.Row.of("taken twice: " + what, "messages", twice.times(), most));
  }

  /// Waits until each fault has met a request: where the load is low, or an app rests after the
  /// last one, that takes a while.
  ///
  /// @return how many have not
  private long awaitMet() throws InterruptedException {
    long deadline = System.nanoTime() + MET_WITHIN.toNanos();
    while (unmet() > 0 && System.nanoTime() - deadline < 0) {
      TimeUnit.NANOSECONDS.sleep(BETWEEN_FAULTS.toNanos());
    }
    return unmet();
  }

  private int unmet() {
    HttpAnswer script = HttpConnection.ask(target.simulatorsUrl(), "GET", "/script", "", "");
    return JsonMapper.shared().readTree(script.body()).size();
  }

  /// @return notifications of killed workers that providers accepted again
  private long kill(int mostKills) {
    long takenAgain = 0;
    for (int done = 0; done < mostKills && load.mayFail(); done += KILLS_PER_LEG) {
      int now = Math.min(KILLS_PER_LEG, mostKills - done);
      run.say("killed: %,d of %,d", done, mostKills);
      double unansweredBefore = kills.unanswered();
      // The allowed number of duplicates is known only when the leg has ended.
      Repeats twice = leg("kills from " + done, _ -> kills.happen(now), Long.MAX_VALUE);
      double unanswered = kills.unanswered() - unansweredBefore;
      account.require(twice.times() <= unanswered);
      takenAgain += twice.times();
      run.say("  unanswered at the kills %,.0f, taken again %,d", unanswered, twice.times());
    }
    return takenAgain;
  }

  /// @param mostTwice how many notifications providers may have accepted again
  private Repeats leg(String name, Faults faults, long mostTwice) {
    Leg leg = load.during(name.replaceAll("[^A-Za-z0-9]+", "-"), faults);
    simulators("DELETE", "/script", "");
    return account.add(name, leg, mostTwice);
  }

  private void simulators(String method, String path, String body) {
    HttpConnection.ask(target.simulatorsUrl(), method, path, "", body);
  }
}
