package io.pushplanet.cm.delivery;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Meters of the trusted listener. Thread-safe.
public final class DeliveryMetrics {
  // Most take less than the millisecond at which buckets begin otherwise.
  private static final Duration SHORTEST_BUCKET = Duration.ofNanos(1 << 16);

  final Counter frames;
  final Counter broadcasts;
  final Counter paced;
  final Counter malformed;
  final Counter stale;
  final Counter unheard;
  final Counter violations;
  final RefusedGateways refused;
  private final Timer written;
  final AtomicInteger gateways = new AtomicInteger();
  private final Map<Result, Counter> outcomes = new EnumMap<>(Result.class);

  public DeliveryMetrics(MeterRegistry meters) {
    frames = meters.counter("cm.delivery.frames");
    broadcasts = meters.counter("cm.delivery.broadcasts");
    paced = meters.counter("cm.delivery.broadcasts.paced");
    stale = meters.counter("cm.delivery.frames.stale");
    malformed = meters.counter("cm.delivery.frames.malformed");
    violations = meters.counter("cm.delivery.violations");
    refused = new RefusedGateways(meters);
    unheard = meters.counter("cm.delivery.outcomes.unheard");
    written =
        Timer.builder("cm.delivery.written")
            .description("From reading a gateway's frame to writing a target's PUBLISH")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .minimumExpectedValue(SHORTEST_BUCKET)
            .register(meters);
    meters.gauge("cm.delivery.gateways", gateways);
    for (Result result : Result.values()) {
      outcomes.put(
          result,
          meters.counter("cm.delivery.outcomes", "result", result.name().toLowerCase(Locale.ROOT)));
    }
  }

  /// The time since the frame or broadcast was read.
  void written(long tookNanos) {
    written.record(tookNanos, TimeUnit.NANOSECONDS);
  }

  void outcome(Result result) {
    Objects.requireNonNull(outcomes.get(result)).increment();
  }
}
