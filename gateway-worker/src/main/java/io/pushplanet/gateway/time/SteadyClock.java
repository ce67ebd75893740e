package io.pushplanet.gateway.time;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.function.LongSupplier;

/// Starts with another clock's time and advances by [System#nanoTime]. It is never set back, so a
/// wait until some instant never grows longer than it was at its beginning. Use it for durations
/// from now on, and a real clock for a time of day that leaves the process. Thread-safe.
public final class SteadyClock extends Clock {
  private final Instant start;
  private final long startNanos;
  private final LongSupplier nanoTime;
  private final ZoneId zone;

  /// @param clock gives the time of day to start with
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
