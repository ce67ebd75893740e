package io.pushplanet.gateway.fcm;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.function.LongSupplier;

/// Starts with the time of another clock and goes on by [System#nanoTime]: nobody sets it back, and a wait until some instant is never longer than
/// it was when it began. Thread-safe.
final class SteadyClock extends Clock {
  private final Instant start;
  private final long startNanos;
  private final LongSupplier nanoTime;
  private final ZoneId zone;

  SteadyClock(Clock clock, LongSupplier nanoTime) {
    this(clock.instant(), nanoTime.getAsLong(), nanoTime, clock.getZone());
  }

  private SteadyClock(Instant start, long startNanos, LongSupplier nanoTime, ZoneId zone) {
    this.start = start;
    this.startNanos = startNanos;
    this.nanoTime = nanoTime;
    this.zone = zone;
  }

  @Override
  public Instant instant() {
    return start.plus(Duration.ofNanos(nanoTime.getAsLong() - startNanos));
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  @Override
  public Clock withZone(ZoneId other) {
    return new SteadyClock(start, startNanos, nanoTime, other);
  }
}
