package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.RoamingFleet;
import io.pushplanet.load.fleet.RoamingFleet.Race;
import io.pushplanet.load.scenario.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/// Devices that connect to two or three nodes at once, while all messages go to them. For one
/// thread.
final class Races {
  private static final int AT_ONCE = 100;
  private static final Duration BETWEEN_RACES = Duration.ofMillis(200);
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(20);

  private final EvenLoad load;
  private final RoamingFleet fleet;
  private final Settlement settlement;
  private final List<DeviceId> devices;
  private final int nodes;
  private final Random random;
  private int raced;

  Races(
      EvenLoad load,
      RoamingFleet fleet,
      Settlement settlement,
      List<DeviceId> devices,
      int nodes,
      Random random) {
    this.load = load;
    this.fleet = fleet;
    this.settlement = settlement;
    this.devices = List.copyOf(devices);
    this.nodes = nodes;
    this.random = random;
  }

  void happen(int count, Traffic traffic) throws InterruptedException {
    List<DeviceId> all = new ArrayList<>(devices);
    int atOnce = Math.min(AT_ONCE, all.size());
    for (int done = 0; done < count && load.mayFail(); done += atOnce) {
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
      settlement.awaitOneEach(racers, SETTLED_WITHIN);
      raced += racers.size();
      settlement.compareWithDirectory(racers);
      // So that their owners get some.
      TimeUnit.MILLISECONDS.sleep(BETWEEN_RACES.toMillis());
    }
  }

  private List<Integer> someNodes(int count) {
    List<Integer> places = new ArrayList<>(IntStream.range(0, nodes).boxed().toList());
    Collections.shuffle(places, random);
    return List.copyOf(places.subList(0, count));
  }

  /// How many there were; each device counts.
  int count() {
    return raced;
  }
}
