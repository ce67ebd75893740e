package io.pushplanet.load.bench.fault;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.load.bench.OwnPlatform;
import io.pushplanet.load.bench.Result;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.EvenLoad.Leg;
import io.pushplanet.load.bench.fault.EvenLoad.Shape;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.measure.Report;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Traffic;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Program;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/// The platform with three nodes, under an even load: devices that connect to two or three nodes at
/// once, nodes that are stopped for ten seconds and continue, nodes that are killed and come back.
public final class TakeoverBench {
  /// No message may expire or be given up during a leg.
  private static final String DELIVERY = "{\"route\":\"mqtt\",\"ttl\":\"PT1H\"}";

  private static final int NODES = 3;
  private static final int CLIENTS = 64;
  private static final int RATE = 1_000;
  private static final int RACES_PER_LEG = 5_000;
  private static final int KILLS_PER_LEG = 25;
  private static final int FREEZES_PER_LEG = 10;
  private static final Duration CONNECTED_WITHIN = Duration.ofSeconds(60);

  private static final FleetSettings SETTINGS =
      new FleetSettings(
          Duration.ofSeconds(60),
          Duration.ofMillis(100),
          Duration.ofSeconds(1),
          1_000,
          Duration.ofSeconds(3));

  private final Run run;
  private final List<Device> devices;
  private final RoamingFleet fleet;
  private final EvenLoad load;
  private final Settlement settlement;
  private final TakeoverAccount account;
  private final Races races;
  private final Freezes freezes;
  private final NodeKills kills;
  private boolean faultsCouldBeMade = true;

  /// How many faults of each kind.
  private record Wanted(int races, int freezes, int kills) {}

  /// Faults of one kind, this many in a leg.
  private interface Kind {
    void happen(int count, Traffic traffic) throws InterruptedException;
  }

  private TakeoverBench(
      Run run,
      OwnPlatform platform,
      Nodes nodes,
      SessionDirectory sessions,
      Claims claims,
      LegSightings sightings,
      RoamingFleet fleet,
      List<Device> devices) {
    this.run = run;
    this.devices = devices;
    this.fleet = fleet;
    List<DeviceId> ids = devices.stream().map(Device::id).toList();
    Random random = new Random();
    load = new EvenLoad(run, platform, new Shape(ids, DELIVERY, CLIENTS, RATE));
    settlement = new Settlement(run, fleet, sessions, platform.target().app(), nodes);
    account = new TakeoverAccount(run, load, fleet, sightings, claims, settlement, ids);
    races = new Races(load, fleet, settlement, ids, nodes.count(), random);
    freezes = new Freezes(load, nodes, fleet, settlement, random);
    kills = new NodeKills(run, load, nodes, random);
  }

  public static Result measure(Run run) {
    Wanted wanted =
        new Wanted(
            run.number("races", 10_000), run.number("freezes", 20), run.number("kills", 200));
    int count = run.number("devices", 1_000);
    try (OwnPlatform own =
            OwnPlatform.start(
                run, Set.of(Program.CONNECTION_MANAGER, Program.DASHBOARD), Map.of());
        RedisClient redis = RedisClient.create(own.platform().services().redis().toString());
        RedisLink link = RedisLink.open(redis)) {
      Platform platform = own.platform();
      platform.train(Program.CONNECTION_MANAGER);
      LegSightings sightings = new LegSightings();
      try (Nodes nodes = Nodes.start(platform, NODES);
          Claims claims = Claims.listen(redis, nodes);
          RoamingFleet fleet =
              RoamingFleet.start(nodes.mqtt(), SETTINGS, sightings, new SplittableRandom())) {
        List<Device> devices =
            Population.register(own.target(), run.name(), Map.of(Channel.MQTT, count)).mqtt();
        SessionDirectory sessions = new SessionDirectory(link, run.clock());
        return new TakeoverBench(run, own, nodes, sessions, claims, sightings, fleet, devices)
            .measure(wanted);
      }
    }
  }

  private Result measure(Wanted wanted) {
    connect();
    long telling = legs("races", wanted.races(), RACES_PER_LEG, races::happen);
    Histogram settled = fleet.settled().copy();
    // Freezes take a known time, but the time of kills depends on the machine, so the end of the
    // time cuts them.
    legs("freezes", wanted.freezes(), FREEZES_PER_LEG, (count, _) -> freezes.happen(count));
    legs("kills", wanted.kills(), KILLS_PER_LEG, (count, _) -> kills.happen(count));
    run.out().println("fleet: " + fleet.reasons());
    boolean couldShow = couldShowTwoOwners(wanted, telling);
    boolean balances =
        faultsCouldBeMade && account.holds() && settlement.holds() && freezes.holds();
    List<Report.Row> rows = new ArrayList<>();
    rows.add(Report.Row.of("takeover races", "races", races.count(), wanted.races()));
    rows.addAll(settlement.rows());
    rows.add(Report.Row.of("race to one connection p50", "ms", ms(settled, 50)));
    rows.add(Report.Row.of("race to one connection p99", "ms", ms(settled, 99)));
    rows.addAll(kills.rows(wanted.kills()));
    rows.addAll(freezes.rows(wanted.freezes()));
    rows.addAll(account.ownershipRows(telling));
    rows.addAll(account.messageRows());
    rows.add(Report.Row.of("the account balances", "1 = yes", balances ? 1 : 0, 1));
    return new Result(rows, balances && couldShow && all(wanted));
  }

  private void connect() {
    fleet.add(devices);
    List<DeviceId> ids = devices.stream().map(Device::id).toList();
    if (!fleet.awaitOneEach(ids, CONNECTED_WITHIN).isEmpty()) {
      throw new IllegalStateException("the devices could not connect: " + fleet.reasons());
    }
  }

  /// @return pairs of one device's connections that could have shown two owners
  private long legs(String name, int all, int perLeg, Kind kind) {
    long telling = 0;
    for (int done = 0; done < all && load.mayFail(); done += perLeg) {
      int now = Math.min(perLeg, all - done);
      run.say("%s: %,d of %,d", name, Math.min(all, done + now), all);
      account.begin();
      Leg leg = load.during(name + "-" + done, traffic -> make(kind, now, traffic));
      telling += account.add(leg);
    }
    return telling;
  }

  /// A leg that breaks off has an account nevertheless.
  private void make(Kind kind, int count, Traffic traffic) throws InterruptedException {
    try {
      kind.happen(count, traffic);
    } catch (RuntimeException e) {
      run.out().println("a fault could not be made: " + e.getMessage());
      faultsCouldBeMade = false;
      load.noMoreFaults();
    }
  }

  private boolean all(Wanted wanted) {
    return races.count() == wanted.races()
        && freezes.count() == wanted.freezes()
        && kills.count() == wanted.kills();
  }

  private boolean couldShowTwoOwners(Wanted wanted, long telling) {
    if (wanted.races() > 0 && telling == 0) {
      run.say("no two connections of a racer got enough: that each had one owner was not seen");
      return false;
    }
    return true;
  }

  private static double ms(Histogram micros, double percentile) {
    return micros.getValueAtPercentile(percentile) / 1_000.0;
  }
}
