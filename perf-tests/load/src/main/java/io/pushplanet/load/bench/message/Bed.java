package io.pushplanet.load.bench.message;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.audit.Account;
import io.pushplanet.load.audit.Auditor;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.fleet.Arrivals;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.Fleet;
import io.pushplanet.load.fleet.FleetSettings;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.measure.Journey;
import io.pushplanet.load.measure.ProcessorTime;
import io.pushplanet.load.scenario.Population;
import io.pushplanet.load.scenario.Target;
import io.pushplanet.load.scenario.Traffic;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/// Connected devices of a running platform, a journal, and the processor time of the platform's
/// programs.
final class Bed implements AutoCloseable {
  /// No message may expire or be given up during a measurement.
  private static final String DELIVERY = "{\"route\":\"mqtt\",\"ttl\":\"PT1H\"}";

  private static final Duration DEVICES_READY_WITHIN = Duration.ofSeconds(60);

  private final Target target;
  private final String run;
  private final List<DeviceId> devices;
  private final AcceptedJournal journal;
  private final Sightings sightings = new Sightings();
  private final Fleet fleet;
  private volatile Arrivals listener = (device, messageId, nanos) -> {};

  Bed(Target target, Path directory, String run, int deviceCount) {
    this.target = target;
    this.run = run;
    Population population = Population.register(target, run, Map.of(Channel.MQTT, deviceCount));
    this.devices = population.mqtt().stream().map(Device::id).toList();
    this.journal = new AcceptedJournal(directory.resolve(run + ".journal"));
    this.fleet =
        Fleet.start(target.mqtt(), FleetSettings.DEFAULT, this::arrived, new SplittableRandom());
    fleet.add(population.mqtt());
    if (!fleet.awaitReady(DEVICES_READY_WITHIN)) {
      fleet.close();
      throw new IllegalStateException(
          "the devices could not connect: " + fleet.counts() + " " + fleet.reasons());
    }
  }

  private void arrived(DeviceId device, String messageId, long nanos) {
    sightings.arrived(device, messageId, nanos);
    listener.arrived(device, messageId, nanos);
  }

  /// Sends through `clients` until the gate ends them, and reports to `journey`.
  Traffic send(String part, int clients, Journey journey, Traffic.Gate gate) {
    listener = journey;
    Traffic traffic = new Traffic(target, journal, run + "-" + part, devices, DELIVERY, journey);
    traffic.run(clients, gate);
    return traffic;
  }

  ProcessorTime processorTime() {
    return ProcessorTime.now(target.pids());
  }

  Sightings sightings() {
    return sightings;
  }

  /// Waits until the devices have acknowledged all accepted messages.
  ///
  /// @return whether they have
  boolean awaitArrivals(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (sightings.total() - sightings.repeats() < journal.recipients()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    return true;
  }

  Account audit(Duration quietWithin) {
    return new Auditor(target)
        .auditWhenQuiet(AcceptedJournal.read(journal.file()), Optional.of(sightings), quietWithin);
  }

  @Override
  public void close() {
    fleet.close();
    journal.close();
  }
}
