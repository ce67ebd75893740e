package io.pushplanet.common.lane;

import java.time.Duration;

/// When rounds may begin: one in each interval, and a few at once where there were none for a while. Not thread-safe.
final class Pace {
  /// What comes now and then, in twos and threes, waits for nobody.
  static final int AT_ONCE = 4;

  private final long intervalNanos;

  /// When the next round would begin if each had kept the interval. Rounds may be ahead of it by one interval less than
  /// [#AT_ONCE].
  private long nextNanos;

  /// @param nowNanos by [System#nanoTime], as everywhere here
  Pace(Duration interval, long nowNanos) {
    this.intervalNanos = interval.toNanos();
    this.nextNanos = nowNanos;
  }

  /// @return how long the next round has to wait; not positive = it may begin
  long waitNanos(long nowNanos) {
    return nextNanos - (AT_ONCE - 1) * intervalNanos - nowNanos;
  }

  void begun(long nowNanos) {
    nextNanos = (nextNanos - nowNanos > 0 ? nextNanos : nowNanos) + intervalNanos;
  }
}
