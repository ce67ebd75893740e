package io.pushplanet.common.lane;

import java.time.Duration;

/// When rounds may begin: one in each interval, and a few at once after a time without rounds. Not
/// thread-safe.
final class Pace {
  /// So that a few occasional items do not wait for each other.
  static final int AT_ONCE = 4;

  private final long intervalNanos;

  /// When the next round would begin if every round had kept the interval. Rounds may be ahead of
  /// it by [#AT_ONCE] - 1 intervals; full rounds, which do not wait, leave no greater debt.
  private long nextNanos;

  /// @param nowNanos by [System#nanoTime], as everywhere here
  Pace(Duration interval, long nowNanos) {
    this.intervalNanos = interval.toNanos();
    this.nextNanos = nowNanos;
  }

  /// @return how long the next round must wait; zero or less: it may begin
  long waitNanos(long nowNanos) {
    return nextNanos - (AT_ONCE - 1) * intervalNanos - nowNanos;
  }

  void begun(long nowNanos) {
    long aheadNanos = Math.clamp(nextNanos - nowNanos, 0, (AT_ONCE - 1) * intervalNanos);
    nextNanos = nowNanos + aheadNanos + intervalNanos;
  }
}
