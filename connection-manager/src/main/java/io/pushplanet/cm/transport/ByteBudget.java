package io.pushplanet.cm.transport;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// How many bytes a group of peers may make this process hold: a share of their own, and beyond it
/// what is left of a budget that they have in common with other groups. Thread-safe, lock-free.
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

  /// Counts the bytes, also beyond the limits.
  ///
  /// @return whether the limits are kept
  boolean hold(long more) {
    long now = held.addAndGet(more);
    if (common == null) {
      return now <= own;
    }
    // The difference between the bytes beyond the share before and after: concurrent calls add up
    // correctly.
    long beyond = Math.max(0, now - own) - Math.max(0, now - more - own);
    return beyond == 0 || common.hold(beyond);
  }

  /// Whether seven eighths of both shares are held, so that no more should be accepted.
  boolean isNearlySpent() {
    return held.get() > own - own / 8 && (common == null || common.isNearlySpent());
  }

  /// The bytes held in both shares.
  long held() {
    return held.get();
  }
}
