package io.pushplanet.dispatcher.limit;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// Work that costs much: little at a time, in turn, with a bounded line of those who wait. Thread-safe.
public final class Turns {
  private static final Duration SOON = Duration.ofSeconds(1);

  private final int atOnce;
  private final Semaphore turns;
  private final Semaphore places;
  private final Duration longestWait;
  private final ProblemCode code;
  private final String busy;

  /// What is done in a turn.
  @FunctionalInterface
  public interface Work<T, E extends Exception> {
    T result() throws E;
  }

  /// @param inLine who comes when as much waits is told so at once
  /// @param longestWait in line
  /// @param code of the problem that is told to who gets no turn
  /// @param busy its detail
  public Turns(int atOnce, int inLine, Duration longestWait, ProblemCode code, String busy) {
    this.atOnce = atOnce;
    this.turns = new Semaphore(atOnce, true);
    this.places = new Semaphore(atOnce + inLine);
    this.longestWait = longestWait;
    this.code = code;
    this.busy = busy;
  }

  /// Does work that counts as one.
  ///
  /// @throws ProblemException where too many others wait, or the turn does not come
  public <T, E extends Exception> T inTurn(Work<T, E> work) throws E {
    return inTurn(1, work);
  }

  /// @param weight of the work; what is heavier than all that may be done at once is done alone
  /// @throws ProblemException where too much else waits, or the turn does not come
  public <T, E extends Exception> T inTurn(int weight, Work<T, E> work) throws E {
    int taken = Math.min(weight, atOnce);
    if (!places.tryAcquire(taken)) {
      throw busy();
    }
    try {
      if (!turns.tryAcquire(taken, longestWait.toMillis(), TimeUnit.MILLISECONDS)) {
        throw busy();
      }
      try {
        return work.result();
      } finally {
        turns.release(taken);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw busy();
    } finally {
      places.release(taken);
    }
  }

  private ProblemException busy() {
    return ProblemException.retryable(code, busy, SOON, null);
  }
}
