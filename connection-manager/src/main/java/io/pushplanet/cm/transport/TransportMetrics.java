package io.pushplanet.cm.transport;

import static java.util.Locale.ROOT;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.cm.transport.gate.AcceptGate.Verdict;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// The transport's meters. Thread-safe.
final class TransportMetrics {
  final Counter acceptFailures;
  final Counter bytesRead;
  final Counter bytesWritten;
  final Counter loopErrors;
  final Timer loopLag;
  final Timer sweep;
  private final Map<Verdict, Counter> accepted = new EnumMap<>(Verdict.class);
  private final Map<CloseCause, Counter> closed = new EnumMap<>(CloseCause.class);

  TransportMetrics(MeterRegistry meters) {
    for (Verdict verdict : Verdict.values()) {
      accepted.put(
          verdict,
          meters.counter("cm.transport.accepted", "verdict", verdict.name().toLowerCase(ROOT)));
    }
    acceptFailures = meters.counter("cm.transport.accept.failures");
    bytesRead = meters.counter("cm.transport.bytes", "direction", "read");
    bytesWritten = meters.counter("cm.transport.bytes", "direction", "written");
    loopErrors = meters.counter("cm.transport.loop.errors");
    loopLag =
        Timer.builder("cm.transport.loop.lag")
            .description("How late the once-a-second sweep of a loop began")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    sweep =
        Timer.builder("cm.transport.sweep")
            .description(
                "How long a loop takes, once a second, to look at its busy connections and a share of the idle ones")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    for (CloseCause cause : CloseCause.values()) {
      closed.put(
          cause, meters.counter("cm.transport.closed", "cause", cause.name().toLowerCase(ROOT)));
    }
  }

  void accepted(Verdict verdict) {
    Objects.requireNonNull(accepted.get(verdict)).increment();
  }

  void closed(CloseCause cause) {
    Objects.requireNonNull(closed.get(cause)).increment();
  }
}
