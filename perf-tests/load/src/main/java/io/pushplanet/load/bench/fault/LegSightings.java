package io.pushplanet.load.bench.fault;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.Arrivals;
import io.pushplanet.load.fleet.Sightings;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/// The messages of the present leg that each device saw. Later repeats of former legs' messages are
/// only counted: they are in no account. Thread-safe.
final class LegSightings implements Arrivals {
  private final LongAdder repeatsOfFormerLegs = new LongAdder();
  private volatile Sightings sightings = new Sightings();
  private volatile String legBegan = "";

  /// A leg begins.
  void begin(long nowMillis) {
    // The first 48 bits of a UUIDv7 are its milliseconds.
    legBegan = String.format(Locale.ROOT, "%08x-%04x", nowMillis >>> 16, nowMillis & 0xFFFF);
    sightings = new Sightings();
  }

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    if (messageId.compareTo(legBegan) < 0) {
      repeatsOfFormerLegs.increment();
    } else {
      sightings.arrived(device, messageId, nanos);
    }
  }

  /// Of the present leg.
  Sightings seen() {
    return sightings;
  }

  long repeatsOfFormerLegs() {
    return repeatsOfFormerLegs.sum();
  }
}
