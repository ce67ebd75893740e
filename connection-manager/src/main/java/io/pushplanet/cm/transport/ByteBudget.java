package io.pushplanet.cm.transport;

import java.util.concurrent.atomic.AtomicLong;

/// What peers that have not authenticated may make this process hold, all together. Thread-safe, lock-free.
final class ByteBudget {
  private final long limit;
  private final AtomicLong held = new AtomicLong();

  ByteBudget(long limit) {
    this.limit = limit;
  }

  boolean take(int bytes) {
    if (held.addAndGet(bytes) <= limit) {
      return true;
    }
    held.addAndGet(-bytes);
    return false;
  }

  void giveBack(int bytes) {
    held.addAndGet(-bytes);
  }

  /// Seven eighths are held: time to take no more on.
  boolean isNearlySpent() {
    return held.get() > limit - limit / 8;
  }

  long held() {
    return held.get();
  }
}
