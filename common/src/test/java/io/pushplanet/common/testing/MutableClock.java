package io.pushplanet.common.testing;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicReference;

/// A clock that a test moves by hand. Thread-safe.
public final class MutableClock extends Clock {
  private final AtomicReference<Instant> now;

  public MutableClock(Instant start) {
    this.now = new AtomicReference<>(start);
  }

  /// Starts on a fixed day.
  public static MutableClock started() {
    return new MutableClock(Instant.parse("2026-11-21T10:00:00Z"));
  }

  public void advance(Duration by) {
    now.updateAndGet(time -> time.plus(by));
  }

  @Override
  public Instant instant() {
    return now.get();
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    throw new UnsupportedOperationException("always UTC");
  }
}
