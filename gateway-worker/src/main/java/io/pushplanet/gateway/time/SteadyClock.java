package io.pushplanet.gateway.time;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.function.LongSupplier;

/// Starts with the time of another clock and goes on by [System#nanoTime]: nobody sets it back, and a wait until some instant is never longer than
/// it was when it began. For what lasts so long from now on; the time of day that others are told is a clock's that is set. Thread-safe.
public final class SteadyClock extends Clock {
  private final Instant start;
  private final long startNanos;
  private final LongSupplier nanoTime;
  private final ZoneId zone;

  /// @param clock for the time of day to start with
  public SteadyClock(Clock clock) {
    this(clock, System::nanoTime);
  }

  public SteadyClock(Clock clock, LongSupplier nanoTime) {
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
