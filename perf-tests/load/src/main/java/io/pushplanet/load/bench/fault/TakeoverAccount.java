package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Ownership;
import io.pushplanet.load.bench.Run;
import io.pushplanet.load.bench.fault.EvenLoad.Leg;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.measure.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The account of all legs together: whether every message was delivered, and whether each device
/// had one owner at a time.
///
/// The owner of a device at each time is known from its [Claims], and from the messages of each
/// connection ([Ownership]). Messages that a former node wrote before it could know of the claim
/// are counted with their delay. For one thread.
final class TakeoverAccount {
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(60);
  private static final Duration TOLD_EVERY = Duration.ofSeconds(10);

  private final Run run;
  private final EvenLoad load;
  private final RoamingFleet fleet;
  private final LegSightings sightings;
  private final Claims claims;
  private final Settlement settlement;
  private final List<DeviceId> devices;
  private final long millisToNanos;

  private boolean holds = true;
  private long messages;
  private long lost;
  private long undelivered;
  private long duplicates;
  private long notAccepted;
  private double seconds;
  private long pairs;
  private long unordered;
  private final List<Long> afterClaim = new ArrayList<>();
  private final List<Long> afterDelivery = new ArrayList<>();

  TakeoverAccount(
      Run run,
      EvenLoad load,
      RoamingFleet fleet,
      LegSightings sightings,
      Claims claims,
      Settlement settlement,
      List<DeviceId> devices) {
    this.run = run;
    this.load = load;
    this.fleet = fleet;
    this.sightings = sightings;
    this.claims = claims;
    this.settlement = settlement;
    this.devices = List.copyOf(devices);
    this.millisToNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(run.clock().millis());
  }

  /// A leg begins.
  void begin() {
    sightings.begin(run.clock().millis());
    claims.forget();
    fleet.forgetStays();
  }

  /// Adds a leg that has ended.
  ///
  /// @return pairs of connections of one device that could have shown two owners
  long add(Leg leg) {
    List<DeviceId> astray = settlement.awaitOneEach(devices, SETTLED_WITHIN);
    settlement.compareWithDirectory(devices);
    long began = System.nanoTime();
    Sightings seen = awaitSightings(leg, began);
    double seenAfter = secondsSince(began);
    Account account = load.audit(leg, seen);
    Ownership ownership = Ownership.of(fleet.stays(), claims.all(), millisToNanos);
    sum(leg, account, ownership);
    say(leg, account, ownership);
    run.say("  all seen after %.1f s, account drawn after %.1f s", seenAfter, secondsSince(began));
    if (!account.deliversAll()) {
      run.out().print(account.text());
    }
    if (!astray.isEmpty()) {
      run.out().println("  not back: " + astray);
    }
    return ownership.telling();
  }

  private void sum(Leg leg, Account account, Ownership ownership) {
    holds &= account.deliversAll() && ownership.afterDelivery().isEmpty();
    messages += account.messages();
    lost += account.lost().size();
    undelivered += account.undelivered();
    duplicates += account.duplicates();
    notAccepted += leg.refusals().values().stream().mapToLong(Long::longValue).sum();
    seconds += leg.seconds();
    pairs += ownership.pairs();
    unordered += ownership.unordered();
    afterClaim.addAll(ownership.afterClaim());
    afterDelivery.addAll(ownership.afterDelivery());
  }

  /// Waits until the devices have seen all messages.
  private Sightings awaitSightings(Leg leg, long began) {
    Sightings seen = sightings.seen();
    long told = began;
    while (seen.total() - seen.repeats() < leg.recipients()
        && System.nanoTime() - began < EvenLoad.QUIET_WITHIN.toNanos()) {
      LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
      if (System.nanoTime() - told > TOLD_EVERY.toNanos()) {
        told = System.nanoTime();
        run.say("  waiting: %,d of %,d seen", seen.total() - seen.repeats(), leg.recipients());
      }
    }
    return seen;
  }

  private void say(Leg leg, Account account, Ownership ownership) {
    run.say(
        "  %s: %,d accepted, %,d delivered, %,d lost, %,d duplicates, not accepted %s; former"
            + " nodes after a claim %d (worst %d ms), after a delivery %d (worst %d ms), of %,d"
            + " pairs that could show it",
        leg.name(),
        account.messages(),
        account.total().delivered(),
        account.lost().size(),
        account.duplicates(),
        leg.refusals(),
        ownership.afterClaim().size(),
        Ownership.worst(ownership.afterClaim()),
        ownership.afterDelivery().size(),
        Ownership.worst(ownership.afterDelivery()),
        ownership.telling());
  }

  private static double secondsSince(long nanos) {
    return (System.nanoTime() - nanos) / 1e9;
  }

  /// Whether every leg's messages were all delivered, and no former node delivered after the new
  /// one had.
  boolean holds() {
    return holds;
  }

  /// @param telling pairs of racers' connections that could have shown two owners
  List<Report.Row> ownershipRows(long telling) {
    return List.of(
        Report.Row.of("pairs of one device's connections compared", "pairs", pairs),
        Report.Row.of("pairs in no known order", "pairs", unordered),
        Report.Row.of(
            "pairs of racers' connections that could have shown two owners", "pairs", telling),
        Report.Row.of("former node delivered after the claim", "connections", afterClaim.size()),
        Report.Row.of("  longest after", "ms", Ownership.worst(afterClaim)),
        Report.Row.of(
            "former node delivered after the new one had", "connections", afterDelivery.size(), 0),
        Report.Row.of("  longest after", "ms", Ownership.worst(afterDelivery)));
  }

  List<Report.Row> messageRows() {
    return List.of(
        Report.Row.of("messages accepted", "messages", messages),
        Report.Row.of("accepted", "1/s", messages / Math.max(1, seconds)),
        Report.Row.of("not accepted", "requests", notAccepted),
        Report.Row.of("lost", "messages", lost, 0),
        Report.Row.of("not delivered", "messages", undelivered, 0),
        Report.Row.of("duplicates", "messages", duplicates + sightings.repeatsOfFormerLegs()));
  }
}
