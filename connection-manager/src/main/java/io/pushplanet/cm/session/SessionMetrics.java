package io.pushplanet.cm.session;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.atomic.AtomicInteger;

/// Meters of all sessions. Thread-safe.
public final class SessionMetrics {
  final Counter published;
  final Counter redelivered;
  final Counter lateAcknowledgements;
  final Counter fenced;
  final Counter deadPaths;
  final Counter directoryFailures;
  final Counter reannounced;
  final Timer acknowledged;
  final AtomicInteger inFlight;

  public SessionMetrics(MeterRegistry meters) {
    published = meters.counter("cm.session.published");
    redelivered = meters.counter("cm.session.redelivered");
    lateAcknowledgements = meters.counter("cm.session.late.acknowledgements");
    fenced = meters.counter("cm.session.fenced");
    deadPaths = meters.counter("cm.session.dead.paths");
    directoryFailures = meters.counter("cm.session.directory.failures");
    reannounced = meters.counter("cm.session.reannounced");
    acknowledged =
        Timer.builder("cm.session.acknowledged")
            .description("From PUBLISH to the device's PUBACK")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    inFlight = new AtomicInteger();
    meters.gauge("cm.session.in.flight", inFlight);
  }
}
