package io.pushplanet.common.lane;

import java.util.concurrent.TimeUnit;

/// A pause for as long as was said. [java.util.concurrent.locks.LockSupport#parkNanos(long)] is over at once where somebody woke this thread
/// from its last wait when that was over already, as answers and queues do now and then.
public final class Pause {
  private Pause() {}

  /// @param nanos none when it is not positive. Whoever is interrupted goes on at once, and is so still
  public static void nanos(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
