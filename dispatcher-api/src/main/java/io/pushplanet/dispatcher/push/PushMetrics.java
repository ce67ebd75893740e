package io.pushplanet.dispatcher.push;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.message.Priority;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.springframework.stereotype.Component;

/// How long accepting a message takes: `pushplanet.accept.resolve` for finding its devices,
/// `pushplanet.accept.confirm` from its `accepted_at` until the broker has confirmed it, by
/// priority. Thread-safe.
@Component
class PushMetrics {
  private final Timer resolving;
  private final Map<Priority, Timer> confirming = new EnumMap<>(Priority.class);

  PushMetrics(MeterRegistry meters) {
    resolving =
        Timer.builder("pushplanet.accept.resolve")
            .description("finding the devices of an audience and their routes")
            .publishPercentileHistogram()
            .register(meters);
    for (Priority priority : Priority.values()) {
      confirming.put(
          priority,
          Timer.builder("pushplanet.accept.confirm")
              .description("from accepted_at to the broker's confirm")
              .tag("priority", priority.name().toLowerCase(Locale.ROOT))
              .publishPercentileHistogram()
              .register(meters));
    }
  }

  <T> T resolving(Supplier<T> resolve) {
    long began = System.nanoTime();
    T resolved = resolve.get();
    resolving.record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    return resolved;
  }

  void confirmed(PushDispatch.Prepared message, Instant at) {
    Timer timer = confirming.get(message.priority());
    if (timer != null) {
      timer.record(Duration.between(message.receipt().acceptedAt(), at));
    }
  }
}
