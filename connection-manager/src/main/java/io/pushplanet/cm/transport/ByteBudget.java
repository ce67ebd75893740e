package io.pushplanet.cm.transport;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// What some peers may make this process hold, all together: so much of their own, and beyond it what is left of a budget that
/// they have in common with others. Thread-safe, lock-free.
final class ByteBudget {
  private final long own;
  private final @Nullable ByteBudget common;
  private final AtomicLong held = new AtomicLong();

  ByteBudget(long own, @Nullable ByteBudget common) {
    this.own = own;
    this.common = common;
  }

  boolean take(int bytes) {
    if (hold(bytes)) {
      return true;
    }
    hold(-bytes);
    return false;
  }

  void giveBack(int bytes) {
    hold(-bytes);
  }

  /// Holds it in any case.
  ///
  /// @return whether that is within the limits
  boolean hold(long more) {
    long now = held.addAndGet(more);
    if (common == null) {
      return now <= own;
    }
    // By what is beyond before and after: however many do this at once, the sum is right.
    long beyond = Math.max(0, now - own) - Math.max(0, now - more - own);
    return beyond == 0 || common.hold(beyond);
  }

  /// Seven eighths are held, of its own and in common: time to take no more on.
  boolean isNearlySpent() {
    return held.get() > own - own / 8 && (common == null || common.isNearlySpent());
  }

  /// Its own and in common.
  long held() {
    return held.get();
  }
}
