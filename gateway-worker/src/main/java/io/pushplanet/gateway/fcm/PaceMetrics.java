package io.pushplanet.gateway.fcm;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/// `pushplanet.fcm.pace.leases` by whether the workers shared them. Thread-safe.
final class PaceMetrics {
  private final Counter shared;
  private final Counter alone;

  PaceMetrics(MeterRegistry meters) {
    shared = counter(meters, true);
    alone = counter(meters, false);
  }

  private static Counter counter(MeterRegistry meters, boolean shared) {
    return Counter.builder("pushplanet.fcm.pace.leases")
        .description(
            "places taken in a Firebase project's quota; `false`: Redis was away, and the worker keeps a pace of its own")
        .tag("shared", Boolean.toString(shared))
        .register(meters);
  }

  void leased(boolean byAll) {
    (byAll ? shared : alone).increment();
  }
}
