package io.pushplanet.dispatcher.access;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// Look-ups of what anybody can make up: few at a time, in turn, with a bounded line of those who wait. Thread-safe.
final class LookUps {
  private static final Duration SOON = Duration.ofSeconds(1);

  private final Semaphore turns;
  private final Semaphore places;
  private final Duration longestWait;

  /// @param inLine who comes when as many wait is told so at once
  /// @param longestWait in line
  LookUps(int atOnce, int inLine, Duration longestWait) {
    this.turns = new Semaphore(atOnce, true);
    this.places = new Semaphore(atOnce + inLine);
    this.longestWait = longestWait;
  }

  /// @throws ProblemException 503 where too many others wait, or the turn does not come
  <T> T inTurn(Supplier<T> lookUp) {
    if (!places.tryAcquire()) {
      throw busy();
    }
    try {
      if (!turns.tryAcquire(longestWait.toMillis(), TimeUnit.MILLISECONDS)) {
        throw busy();
      }
      try {
        return lookUp.get();
      } finally {
        turns.release();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw busy();
    } finally {
      places.release();
    }
  }

  private static ProblemException busy() {
    return ProblemException.retryable(
        ProblemCode.DATABASE_UNAVAILABLE,
        "Too many keys are looked up just now. Try again.",
        SOON,
        null);
  }
}
