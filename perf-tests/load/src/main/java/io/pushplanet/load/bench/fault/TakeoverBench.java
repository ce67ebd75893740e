package io.pushplanet.load.bench.fault;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.audit.Claim;
import io.pushplanet.load.audit.Ownership;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.fleet.RoamingFleet.Race;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.fleet.Stay;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.node.PlatformNode;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;

/// The platform with three nodes, under an even load: devices that connect to two or three nodes at
/// once, nodes that are killed and come back, nodes that are stopped for ten seconds and continue.
/// The run is cut into legs, each with a journal and an account of its own, so that the auditor's
/// memory is bounded in a run of any length.
///
/// The owner of a device at each time is known from the claims that the directory publishes to
/// former owners ([Claim]), and from the messages of each connection ([Ownership]). Messages that a
/// former node wrote before it could know of the claim are counted with their delay; a delivery of
/// a thawed node to a device that has moved is a fault.
public final class TakeoverBench {
  private static final String RACES = "races";

  /// No message may expire or be given up during a leg.
  private static final String DELIVERY = "{\"route\":\"mqtt\",\"ttl\":\"PT1H\"}";

  private static final int NODES = 3;
  private static final int CLIENTS = 64;
  private static final int RACES_AT_ONCE = 100;
  private static final int RACES_PER_LEG = 5_000;
  private static final int KILLS_PER_LEG = 25;
  private static final int FREEZES_PER_LEG = 10;
  private static final int MAY_BE_DOWN = 2;
  private static final Duration FREEZE = Duration.ofSeconds(10);
  private static final Duration BETWEEN_RACES = Duration.ofMillis(200);
  private static final Duration RACE_WITHIN = Duration.ofSeconds(20);
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(60);
  private static final Duration QUIET_WITHIN = Duration.ofSeconds(180);
  private static final Duration LONGEST_LEG = Duration.ofMinutes(30);
  private static final Duration TOLD_EVERY = Duration.ofSeconds(10);

  private static final FleetSettings SETTINGS =
      new FleetSettings(
          Duration.ofSeconds(60),
          Duration.ofMillis(100),
          Duration.ofSeconds(1),
          1_000,
          Duration.ofSeconds(3));

  private final Run run;
  private final Path directory;
  private final List<PlatformNode> nodes;
  private final SessionDirectory sessions;
  private final Target target;
  private final List<Device> devices;
  private final Queue<Claim> claims = new ConcurrentLinkedQueue<>();
  private final RoamingFleet fleet;
  private final double perSecond;
  private final long faultsUntilNanos;
  private final long millisToNanos;
  private final Random random = new Random();
  private final Totals totals = new Totals();
  private volatile Sightings sightings = new Sightings();
  private volatile String legBegan = "";

  private static final class Totals {
    boolean balances = true;
    long messages;
    long lost;
    long duplicates;
    long repeatsOfFormerLegs;
    long notAccepted;
    double seconds;
    String failure = "";
    int races;
    int unsettled;
    int foreign;
    int kills;
    int freezes;
    int moved;
    int afterThaw;
    long pairs;
    long unordered;
    long telling;
    final List<Long> afterClaim = new ArrayList<>();
    final List<Long> afterDelivery = new ArrayList<>();
    Histogram settled = new Histogram(3);
    final Histogram restarts = new Histogram(600_000, 3);
    final Histogram thaws = new Histogram(600_000, 3);
  }

  private interface Faults {
    /// @param traffic that goes on meanwhile
    void happen(Traffic traffic) throws InterruptedException, ExecutionException;
  }

  private TakeoverBench(
      Run run,
      OwnPlatform platform,
      List<PlatformNode> nodes,
      SessionDirectory sessions,
      List<Device> devices,
      double perSecond,
      Duration atMost) {
    this.run = run;
    this.directory = platform.directory();
    this.target = platform.target();
    this.nodes = nodes;
    this.sessions = sessions;
    this.devices = devices;
    this.perSecond = perSecond;
    this.faultsUntilNanos = System.nanoTime() + atMost.toNanos();
    this.millisToNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(run.clock().millis());
    this.fleet =
        RoamingFleet.start(
            nodes.stream().map(PlatformNode::mqtt).toList(),
            SETTINGS,
            this::arrived,
            new SplittableRandom());
  }

  public static Result measure(Run run) {
    int races = run.number("races", 10_000);
    int kills = run.number("kills", 200);
    int freezes = run.number("freezes", 20);
    int devices = run.number("devices", 1_000);
    List<PlatformNode> nodes = new ArrayList<>();
    try (OwnPlatform own =
            OwnPlatform.start(
                run, Set.of(Program.CONNECTION_MANAGER, Program.DASHBOARD), Map.of());
        RedisClient redis = RedisClient.create(own.platform().services().redis().toString());
        RedisLink link = RedisLink.open(redis)) {
      Platform platform = own.platform();
      platform.train(Program.CONNECTION_MANAGER);
      IntStream.range(0, NODES)
          .forEach(n -> nodes.add(new PlatformNode(platform, "takeover-" + n)));
      nodes.forEach(PlatformNode::start);
      TakeoverBench bench =
          new TakeoverBench(
              run,
              own,
              nodes,
              new SessionDirectory(link, run.clock()),
              Population.register(own.target(), run.name(), Map.of(Channel.MQTT, devices)).mqtt(),
              run.number("rate", 1_000),
              Duration.ofMinutes(run.number("minutes", 40)));
      try {
        return bench.measure(redis, races, kills, freezes);
      } finally {
        bench.fleet.close();
      }
    } finally {
      nodes.forEach(PlatformNode::close);
    }
  }

  private Result measure(RedisClient redis, int races, int kills, int freezes) {
    List<TakeoverNotices> notices = new ArrayList<>();
    for (PlatformNode node : nodes) {
      notices.add(TakeoverNotices.listen(redis, new NodeId(node.id()), this::heard, () -> {}));
    }
    try {
      fleet.add(devices);
      if (!fleet.awaitOneEach(ids(), SETTLED_WITHIN).isEmpty()) {
        throw new IllegalStateException("the devices could not connect: " + fleet.reasons());
      }
      legs(RACES, races, RACES_PER_LEG, this::race);
      totals.settled = fleet.settled().copy();
      // Freezes take a known time, but the time of kills depends on the machine, so the end of the
      // time cuts them.
      legs("freezes", freezes, FREEZES_PER_LEG, this::freeze);
      legs("kills", kills, KILLS_PER_LEG, this::kill);
    } finally {
      notices.forEach(TakeoverNotices::close);
    }
    run.out().println("fleet: " + fleet.reasons());
    boolean all = totals.races == races && totals.kills == kills && totals.freezes == freezes;
    if (races > 0 && totals.telling == 0) {
      run.say("no two connections of a racer got enough: that each had one owner was not seen");
      all = false;
    }
    return new Result(rows(races, kills, freezes), totals.balances && all);
  }

  private void heard(SessionNotice word) {
    if (word instanceof SessionNotice.Takeover(var device, var owner)) {
      claims.add(new Claim(device.device(), placeOf(owner.node()), owner.epoch()));
    }
  }

  private int placeOf(NodeId node) {
    return nodes.stream().map(PlatformNode::id).toList().indexOf(node.value());
  }

  private void arrived(DeviceId device, String messageId, long nanos) {
    if (messageId.compareTo(legBegan) < 0) {
      totals.repeatsOfFormerLegs++;
    } else {
      sightings.arrived(device, messageId, nanos);
    }
  }

  private List<DeviceId> ids() {
    return devices.stream().map(Device::id).toList();
  }

  // A leg

  private void legs(String name, int all, int perLeg, IntFunction<Faults> faults) {
    for (int done = 0; done < all && goesOn(); done += perLeg) {
      int now = Math.min(perLeg, all - done);
      run.say("%s: %,d of %,d", name, Math.min(all, done + now), all);
      leg(name + "-" + done, faults.apply(now));
    }
  }

  /// Past the run's time no fault is made any more; the account of the earlier ones is made
  /// nevertheless.
  private boolean goesOn() {
    return totals.failure.isEmpty() && System.nanoTime() - faultsUntilNanos < 0;
  }

  private void leg(String name, Faults faults) {
    long startMillis = run.clock().millis();
    // The first 48 bits of a UUIDv7 are its milliseconds.
    legBegan = String.format(Locale.ROOT, "%08x-%04x", startMillis >>> 16, startMillis & 0xFFFF);
    sightings = new Sightings();
    claims.clear();
    fleet.forgetStays();
    try (AcceptedJournal journal = new AcceptedJournal(directory.resolve(name + ".journal"))) {
      Traffic traffic =
          new Traffic(
              target, journal, run.name() + "-" + name, ids(), DELIVERY, (_, _, _) -> {});
      long start = System.nanoTime();
      try (Traffic.Running _ = traffic.runBeside(CLIENTS, perSecond, LONGEST_LEG)) {
        TimeUnit.SECONDS.sleep(1);
        faults.happen(traffic);
      } catch (ExecutionException | RuntimeException e) {
        totals.failure = "a fault could not be made: " + e.getMessage();
        totals.balances = false;
        run.out().println(totals.failure);
      }
      totals.seconds += (System.nanoTime() - start) / 1e9;
      totals.notAccepted += traffic.refusals().values().stream().mapToLong(Long::longValue).sum();
      audit(name, journal, traffic);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private void audit(String name, AcceptedJournal journal, Traffic traffic) {
    List<DeviceId> astray = fleet.awaitOneEach(ids(), SETTLED_WITHIN);
    totals.unsettled += astray.size();
    totals.foreign += foreign(ids());
    long began = System.nanoTime();
    long told = began;
    Sightings seen = sightings;
    while (seen.total() - seen.repeats() < journal.recipients()
        && System.nanoTime() - began < QUIET_WITHIN.toNanos()) {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      if (System.nanoTime() - told > TOLD_EVERY.toNanos()) {
        told = System.nanoTime();
        run.say("  waiting: %,d of %,d seen", seen.total() - seen.repeats(), journal.recipients());
      }
    }
    double seenAfter = (System.nanoTime() - began) / 1e9;
    Account account =
        new Auditor(target)
            .auditWhenQuiet(AcceptedJournal.read(journal.file()), Optional.of(seen), QUIET_WITHIN);
    Ownership ownership = Ownership.of(fleet.stays(), List.copyOf(claims), millisToNanos);
    totals.balances &=
        account.balances()
            && totals.unsettled == 0
            && totals.foreign == 0
            && totals.afterThaw == 0
            && ownership.afterDelivery().isEmpty();
    totals.messages += account.messages();
    totals.lost += account.lost().size();
    totals.duplicates += account.duplicates();
    totals.pairs += ownership.pairs();
    totals.unordered += ownership.unordered();
    totals.telling += name.startsWith(RACES) ? ownership.telling() : 0;
    totals.afterClaim.addAll(ownership.afterClaim());
    totals.afterDelivery.addAll(ownership.afterDelivery());
    run.say(
        "  %s: %,d accepted, %,d delivered, %,d lost, %,d duplicates, not accepted %s; former"
            + " nodes after a claim %d (worst %d ms), after a delivery %d (worst %d ms), of %,d"
            + " pairs that could show it",
        name,
        account.messages(),
        account.total().delivered(),
        account.lost().size(),
        account.duplicates(),
        traffic.refusals(),
        ownership.afterClaim().size(),
        Ownership.worst(ownership.afterClaim()),
        ownership.afterDelivery().size(),
        Ownership.worst(ownership.afterDelivery()),
        ownership.telling());
    run.say(
        "  all seen after %.1f s, account drawn after %.1f s",
        seenAfter, (System.nanoTime() - began) / 1e9);
    if (!account.balances()) {
      run.out().print(account.text());
    }
    if (!astray.isEmpty()) {
      run.out().println("  not back: " + astray);
    }
  }

  // The faults

  private Faults race(int count) {
    return traffic -> {
      List<DeviceId> all = new ArrayList<>(ids());
      int atOnce = Math.min(RACES_AT_ONCE, all.size());
      for (int done = 0; done < count && goesOn(); done += atOnce) {
        Collections.shuffle(all, random);
        List<DeviceId> racers = all.subList(0, Math.min(atOnce, count - done));
        List<Race> races =
            racers.stream()
                .map(device -> new Race(device, someNodes(2 + random.nextInt(2))))
                .toList();
        // Otherwise hardly a message would come during a race; and the first ones are on their way
        // before it.
        traffic.aim(racers);
        TimeUnit.MILLISECONDS.sleep(BETWEEN_RACES.toMillis());
        fleet.race(races);
        totals.unsettled += fleet.awaitOneEach(racers, RACE_WITHIN).size();
        totals.races += racers.size();
        totals.foreign += foreign(racers);
        // So that their owners get some.
        TimeUnit.MILLISECONDS.sleep(BETWEEN_RACES.toMillis());
      }
    };
  }

  private List<Integer> someNodes(int count) {
    List<Integer> places = new ArrayList<>(IntStream.range(0, NODES).boxed().toList());
    Collections.shuffle(places, random);
    return List.copyOf(places.subList(0, count));
  }

  /// How many of them have and keep their connection at another node than the directory says. A
  /// node that claims a device and loses it before the former node has learnt of that is the owner
  /// for a moment.
  private int foreign(List<DeviceId> some) {
    long deadline = System.nanoTime() + RACE_WITHIN.toNanos();
    List<String> foreign = foreignNow(some);
    while (!foreign.isEmpty() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      foreign = foreignNow(some);
    }
    if (!foreign.isEmpty()) {
      run.say("  elsewhere than the directory says: %s", String.join(", ", foreign));
    }
    return foreign.size();
  }

  private List<String> foreignNow(List<DeviceId> some) {
    Map<DeviceId, Integer> standing = fleet.standing();
    Map<DeviceKey, SessionOwner> owners =
        sessions.owners(some.stream().map(id -> new DeviceKey(target.app(), id)).toList());
    List<String> foreign = new ArrayList<>();
    for (DeviceId id : some) {
      Integer place = standing.get(id);
      SessionOwner owner = owners.get(new DeviceKey(target.app(), id));
      if (place != null && (owner == null || placeOf(owner.node()) != place)) {
        foreign.add(id.value() + " at node " + place + ", owner " + owner);
      }
    }
    return foreign;
  }

  /// Each node is killed again and again; at most two of three are down.
  private Faults kill(int count) {
    return _ -> {
      AtomicInteger left = new AtomicInteger(count);
      Semaphore mayBeDown = new Semaphore(MAY_BE_DOWN);
      List<Future<?>> dying = new ArrayList<>();
      try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
        for (PlatformNode node : nodes) {
          dying.add(
              executor.submit(() -> {
                while (goesOn() && left.getAndDecrement() > 0) {
                  TimeUnit.MILLISECONDS.sleep(200 + random.nextInt(1_500));
                  mayBeDown.acquire();
                  try {
                    long start = System.nanoTime();
                    node.kill9();
                    node.start();
                    killed(System.nanoTime() - start);
                  } finally {
                    mayBeDown.release();
                  }
                }
                return null;
              }));
        }
      }
      for (Future<?> each : dying) {
        each.get();
      }
    };
  }

  private synchronized void killed(long tookNanos) {
    totals.kills++;
    totals.restarts.recordValue(TimeUnit.NANOSECONDS.toMillis(tookNanos));
    if (totals.kills % 10 == 0) {
      run.say("  %d killed and back", totals.kills);
    }
  }

  /// Half of a frozen node's devices connect to another node without closing their connection, the
  /// others wait.
  private Faults freeze(int count) {
    return _ -> {
      for (int done = 0; done < count && goesOn(); done++) {
        int frozen = done % NODES;
        List<DeviceId> there =
            fleet.standing().entrySet().stream()
                .filter(device -> device.getValue() == frozen)
                .map(Map.Entry::getKey)
                .toList();
        List<DeviceId> movers = there.subList(0, there.size() / 2);
        long began = System.nanoTime();
        nodes.get(frozen).freeze();
        fleet.race(
            movers.stream()
                .map(device ->
                    new Race(device, List.of((frozen + 1 + random.nextInt(NODES - 1)) % NODES)))
                .toList());
        TimeUnit.NANOSECONDS.sleep(FREEZE.toNanos() - (System.nanoTime() - began));
        long thawed = System.nanoTime();
        nodes.get(frozen).thaw();
        totals.unsettled += fleet.awaitOneEach(movers, RACE_WITHIN).size();
        totals.thaws.recordValue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - thawed));
        totals.foreign += foreign(movers);
        totals.moved += movers.size();
        totals.freezes++;
        afterThaw(frozen, thawed, began, Set.copyOf(movers));
        TimeUnit.SECONDS.sleep(2);
      }
    };
  }

  private void afterThaw(int frozen, long thawed, long began, Set<DeviceId> movers) {
    for (Stay stay : fleet.stays()) {
      if (stay.node() == frozen
          && movers.contains(stay.device())
          && stay.beganNanos() < began
          && stay.messages() > 0
          && stay.lastNanos() > thawed) {
        totals.afterThaw++;
      }
    }
  }

  private List<Report.Row> rows(int races, int kills, int freezes) {
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("takeover races", "races", totals.races, races));
    rows.add(
        zero("races and legs that left a device without one connection", "", totals.unsettled));
    rows.add(zero("connections at another node than the directory says", "", totals.foreign));
    rows.add(Report.Row.of("race to one connection p50", "ms", ms(totals.settled, 50)));
    rows.add(Report.Row.of("race to one connection p99", "ms", ms(totals.settled, 99)));
    rows.add(Report.Row.of("nodes killed (kill -9) and back", "kills", totals.kills, kills));
    rows.add(Report.Row.of("killed to ready p50", "ms", totals.restarts.getValueAtPercentile(50)));
    rows.add(Report.Row.of("freezes of 10 s", "freezes", totals.freezes, freezes));
    rows.add(Report.Row.of("devices that moved off a frozen node", "devices", totals.moved));
    rows.add(
        Report.Row.of("thawed to one connection each, longest", "ms", totals.thaws.getMaxValue()));
    rows.add(zero("of them got something from the thawed node", "devices", totals.afterThaw));
    rows.add(Report.Row.of("pairs of one device's connections compared", "pairs", totals.pairs));
    rows.add(Report.Row.of("pairs in no known order", "pairs", totals.unordered));
    rows.add(
        Report.Row.of(
            "pairs of racers' connections that could have shown two owners",
            "pairs",
            totals.telling));
    rows.add(
        Report.Row.of(
            "former node delivered after the claim", "connections", totals.afterClaim.size()));
    rows.add(Report.Row.of("  longest after", "ms", Ownership.worst(totals.afterClaim)));
    rows.add(
        zero(
            "former node delivered after the new one had",
            "connections",
            totals.afterDelivery.size()));
    rows.add(Report.Row.of("  longest after", "ms", Ownership.worst(totals.afterDelivery)));
    rows.add(Report.Row.of("messages accepted", "messages", totals.messages));
    rows.add(Report.Row.of("accepted", "1/s", totals.messages / Math.max(1, totals.seconds)));
    rows.add(Report.Row.of("not accepted", "requests", totals.notAccepted));
    rows.add(zero("lost", "messages", totals.lost));
    rows.add(
        Report.Row.of("duplicates", "messages", totals.duplicates + totals.repeatsOfFormerLegs));
    rows.add(Report.Row.of("the account balances", "1 = yes", totals.balances ? 1 : 0, 1));
    return rows;
  }

  private static Report.Row zero(String metric, String unit, double value) {
    return Report.Row.of(metric, unit, value, 0);
  }

  private static double ms(Histogram micros, double percentile) {
    return micros.getValueAtPercentile(percentile) / 1_000.0;
  }
}
