package io.pushplanet.common.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Waits for the effects of other threads and processes, by checking again and again until a
/// deadline.
public final class Eventually {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private Eventually() {}

  /// A check that throws, usually an `AssertionError`, as long as its condition does not hold.
  public interface Check {
    void run() throws Exception;
  }

  /// @throws AssertionError with the last failure when the check did not pass within `deadline`
  public static void within(Duration deadline, Check check) {
    long end = System.nanoTime() + deadline.toNanos();
    while (true) {
      try {
        check.run();
        return;
      } catch (AssertionError | Exception failure) {
        if (System.nanoTime() >= end) {
          throw new AssertionError("not within " + deadline + ": " + failure.getMessage(), failure);
        }
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }
}
