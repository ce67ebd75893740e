package io.pushplanet.cm.uplink;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/// Meters of what devices publish. Thread-safe.
public final class UplinkMetrics {
  final Counter receipts;
  final Counter uplinks;
  final Counter wills;
  final Counter droppedWills;
  private final Counter slowed;

  public UplinkMetrics(MeterRegistry meters) {
    receipts = meters.counter("cm.uplink.received", "kind", "receipt");
    uplinks = meters.counter("cm.uplink.received", "kind", "uplink");
    wills = meters.counter("cm.uplink.received", "kind", "will");
    droppedWills = meters.counter("cm.uplink.wills.dropped");
    slowed =
        Counter.builder("cm.uplink.slowed")
            .description(
                "pauses in which a device was not read, because it published faster than `cm.uplink.per-second`")
            .register(meters);
  }

  /// A device is not read for a while, because it publishes too fast.
  public void slowed() {
    slowed.increment();
  }
}
