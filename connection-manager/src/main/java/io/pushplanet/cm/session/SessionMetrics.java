package io.pushplanet.cm.session;

import static java.util.Locale.ROOT;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Meters of all sessions. Thread-safe.
public final class SessionMetrics {

  /// Why a message ended here without the device's acknowledgement. The message is not lost: its
  /// origin is told.
  enum Drop {
    NOT_HERE,
    TIMED_OUT,
    EXPIRED,
    QUEUE_FULL,
    TOO_LONG,
    REFUSED_BY_DEVICE
  }

  final Counter published;
  final Counter redelivered;
  final Counter lateAcknowledgements;
  final Counter fenced;
  final Counter denied;
  final Counter handedOver;
  final Counter deadPaths;
  final Counter refusedAcknowledgements;
  final Counter unresponsive;
  final AtomicInteger unresponsiveNow;
  final Timer acknowledged;
  private final Timer established;
  private final Map<Drop, Counter> dropped = new EnumMap<>(Drop.class);
  final AtomicInteger inFlight;

  public SessionMetrics(MeterRegistry meters) {
    published = meters.counter("cm.session.published");
    redelivered = meters.counter("cm.session.redelivered");
    lateAcknowledgements = meters.counter("cm.session.late.acknowledgements");
    fenced = meters.counter("cm.session.fenced");
    denied =
        Counter.builder("cm.session.denied")
            .description(
                "sessions ended here because the device was deleted, or its MQTT channel switched off")
            .register(meters);
    handedOver =
        Counter.builder("cm.session.handed.over")
            .description("sessions ended here because the device has another user")
            .register(meters);
    deadPaths = meters.counter("cm.session.dead.paths");
    refusedAcknowledgements = meters.counter("cm.session.refused.acknowledgements");
    unresponsive = meters.counter("cm.session.unresponsive");
    unresponsiveNow = new AtomicInteger();
    meters.gauge("cm.session.unresponsive.now", unresponsiveNow);
    acknowledged =
        Timer.builder("cm.session.acknowledged")
            .description("From PUBLISH to the device's PUBACK")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    established =
        Timer.builder("cm.session.established")
            .description("From CONNECT to CONNACK")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    for (Drop drop : Drop.values()) {
      dropped.put(
          drop, meters.counter("cm.session.dropped", "reason", drop.name().toLowerCase(ROOT)));
    }
    inFlight = new AtomicInteger();
    meters.gauge("cm.session.in.flight", inFlight);
  }

  /// A CONNECT was answered with CONNACK.
  public void established(long tookNanos) {
    established.record(tookNanos, TimeUnit.NANOSECONDS);
  }

  void dropped(Drop why) {
    Objects.requireNonNull(dropped.get(why)).increment();
  }
}
