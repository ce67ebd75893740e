package io.pushplanet.cm.transport.gate;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// So many a second, after a burst. One number: when the next one would be due if all had come evenly (GCRA, the cell rate
/// algorithm of ITU-T I.371). Times are nanoseconds since the `startNanos` it was made with. Thread-safe, lock-free.
public final class Rate {
  private final long startNanos;
  private final long intervalNanos;
  private final long toleranceNanos;
  private final AtomicLong due;

  /// @param perSecond 0 for no limit
  public Rate(int perSecond, int burst, long startNanos) {
    this(perSecond, burst, startNanos, 0);
  }

  /// @param due as another one with the same start has [left][#due] it
  Rate(int perSecond, int burst, long startNanos, long due) {
    this.startNanos = startNanos;
    this.intervalNanos = intervalNanos(perSecond);
    this.toleranceNanos = intervalNanos * (Math.max(1, burst) - 1L);
    this.due = new AtomicLong(due);
  }

  static long intervalNanos(int perSecond) {
    return perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /// When the next one would be due if all had come evenly, since the start.
  long due() {
    return due.get();
  }

  /// How long until one may come; 0 when now.
  public long waitNanos(long nowNanos) {
    if (intervalNanos == 0) {
      return 0;
    }
    return Math.max(0, due.get() - toleranceNanos - (nowNanos - startNanos));
  }

  /// Whether none has come for so long that it is as good as new.
  public boolean isRested(long nowNanos) {
    return due.get() - (nowNanos - startNanos) <= 0;
  }

  /// One came. Several threads that looked at [#waitNanos] at once may each spend one: the rate stays, the burst does not.
  public void spend(long nowNanos) {
    if (intervalNanos == 0) {
      return;
    }
    long now = nowNanos - startNanos;
    due.accumulateAndGet(now, (old, time) -> Math.max(old, time) + intervalNanos);
  }
}
