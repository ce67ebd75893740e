package io.pushplanet.gateway.fcm;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/// `pushplanet.fcm.pace.leases` by whether the workers shared them, `pushplanet.fcm.quarter.hour`
/// counts messages that were put off. Thread-safe.
final class PaceMetrics {
  private final Counter shared;
  private final Counter alone;
  private final Counter putOff;

  PaceMetrics(MeterRegistry meters) {
    shared = counter(meters, true);
    alone = counter(meters, false);
    putOff =
        Counter.builder("pushplanet.fcm.quarter.hour")
            .description(
                "bulk messages that the worker deferred because it is about a quarter of an hour (`gateway.fcm.quarter-hour-margin`)")
            .register(meters);
  }

  private static Counter counter(MeterRegistry meters, boolean shared) {
    return Counter.builder("pushplanet.fcm.pace.leases")
        .description(
            "places taken in a Firebase project's quota; `false`: Redis was away, and the worker keeps a pace of its own")
        .tag("shared", Boolean.toString(shared))
        .register(meters);
  }

  void putOff() {
    putOff.increment();
  }

  void leased(boolean byAll) {
    (byAll ? shared : alone).increment();
  }
}
