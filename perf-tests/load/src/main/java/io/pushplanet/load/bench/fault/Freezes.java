package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.fleet.RoamingFleet.Race;
import io.pushplanet.load.fleet.Stay;
import io.pushplanet.load.measure.Report;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Nodes that are stopped for ten seconds and continue. Half of a frozen node's devices connect to
/// another node without closing their connection, the others wait. A delivery of the thawed node to
/// a device that has moved is a fault. For one thread.
final class Freezes {
  private static final Duration LENGTH = Duration.ofSeconds(10);
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(20);
  private static final Duration BETWEEN = Duration.ofSeconds(2);

  private final EvenLoad load;
  private final Nodes nodes;
  private final RoamingFleet fleet;
  private final Settlement settlement;
  private final Random random;
  private final Histogram thaws = new Histogram(600_000, 3);
  private int freezes;
  private int moved;
  private int afterThaw;

  Freezes(EvenLoad load, Nodes nodes, RoamingFleet fleet, Settlement settlement, Random random) {
    this.load = load;
    this.nodes = nodes;
    this.fleet = fleet;
    this.settlement = settlement;
    this.random = random;
  }

  /// Freezes one node after the other.
  void happen(int count) throws InterruptedException {
    for (int done = 0; done < count && load.mayFail(); done++) {
      freeze(done % nodes.count());
      TimeUnit.NANOSECONDS.sleep(BETWEEN.toNanos());
    }
  }

  private void freeze(int place) throws InterruptedException {
    List<DeviceId> there =
        fleet.standing().entrySet().stream()
            .filter(device -> device.getValue() == place)
            .map(Map.Entry::getKey)
            .toList();
    List<DeviceId> movers = there.subList(0, there.size() / 2);
    long began = System.nanoTime();
    nodes.at(place).freeze();
    fleet.race(
        movers.stream().map(device -> new Race(device, List.of(anotherThan(place)))).toList());
    TimeUnit.NANOSECONDS.sleep(LENGTH.toNanos() - (System.nanoTime() - began));
    long thawed = System.nanoTime();
    nodes.at(place).thaw();
    settlement.awaitOneEach(movers, SETTLED_WITHIN);
    thaws.recordValue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - thawed));
    settlement.compareWithDirectory(movers);
    moved += movers.size();
    freezes++;
    afterThaw += gotSomethingFrom(place, Set.copyOf(movers), began, thawed);
  }

  private int anotherThan(int place) {
    return (place + 1 + random.nextInt(nodes.count() - 1)) % nodes.count();
  }

  /// How many connections at the frozen node got a message after it had thawed, although their
  /// devices had moved.
  private int gotSomethingFrom(int place, Set<DeviceId> movers, long began, long thawed) {
    int connections = 0;
    for (Stay stay : fleet.stays()) {
      if (stay.node() == place
          && movers.contains(stay.device())
          && stay.beganNanos() < began
          && stay.messages() > 0
          && stay.lastNanos() > thawed) {
        connections++;
      }
    }
    return connections;
  }

  int count() {
    return freezes;
  }

  /// Whether no thawed node delivered to a device that had moved.
  boolean holds() {
    return afterThaw == 0;
  }

  List<Report.Row> rows(int wanted) {
    return List.of(
        Report.Row.of("freezes of 10 s", "freezes", freezes, wanted),
        Report.Row.of("devices that moved off a frozen node", "devices", moved),
        Report.Row.of("thawed to one connection each, longest", "ms", thaws.getMaxValue()),
        Report.Row.of("of them got something from the thawed node", "devices", afterThaw, 0));
  }
}
