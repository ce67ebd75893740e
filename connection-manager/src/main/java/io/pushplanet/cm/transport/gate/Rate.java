package io.pushplanet.cm.transport.gate;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// A number per second, after a burst. Its state is one number: when the next event would be due if
/// all had come evenly (GCRA, the cell rate algorithm of ITU-T I.371). Times are nanoseconds since
/// its `startNanos`. Thread-safe, lock-free.
public final class Rate {
  private final long startNanos;
  private final long intervalNanos;
  private final long toleranceNanos;
  private final AtomicLong due;

  /// @param perSecond 0 for no limit
  public Rate(int perSecond, int burst, long startNanos) {
    this(perSecond, burst, startNanos, 0);
  }

  /// @param due the [due][#due] time of another rate with the same start
  Rate(int perSecond, int burst, long startNanos, long due) {
    this.startNanos = startNanos;
    this.intervalNanos = intervalNanos(perSecond);
    this.toleranceNanos = intervalNanos * (Math.max(1, burst) - 1L);
    this.due = new AtomicLong(due);
  }

  static long intervalNanos(int perSecond) {
    return perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / perSecond;
  }

  /// When the next event would be due if all had come evenly, since the start.
  long due() {
    return due.get();
  }

  /// How long until the next event is allowed; 0 for now.
  public long waitNanos(long nowNanos) {
    if (intervalNanos == 0) {
      return 0;
    }
    return Math.max(0, due.get() - toleranceNanos - (nowNanos - startNanos));
  }

  /// Whether the rate has fully recovered.
  public boolean isRested(long nowNanos) {
    return due.get() - (nowNanos - startNanos) <= 0;
  }

  /// Counts one event. Several threads that read [#waitNanos] at the same time may each count one:
  /// the rate holds, the burst may be exceeded.
  public void spend(long nowNanos) {
    if (intervalNanos == 0) {
      return;
    }
    long now = nowNanos - startNanos;
    due.accumulateAndGet(now, (old, time) -> Math.max(old, time) + intervalNanos);
  }
}
