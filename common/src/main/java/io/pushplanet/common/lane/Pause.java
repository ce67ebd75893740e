package io.pushplanet.common.lane;

import java.util.concurrent.TimeUnit;

/// A pause that lasts its full time. [java.util.concurrent.locks.LockSupport#parkNanos(long)] may
/// return at once: another thread's unpark that came after the end of this thread's last wait
/// counts for the next one. Answers and queues do that now and then.
public final class Pause {
  private Pause() {}

  /// @param nanos no pause when it is not positive. An interrupted thread returns at once and stays
  ///     interrupted
  public static void nanos(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
