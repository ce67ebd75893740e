package io.pushplanet.dispatcher.limit;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Limits how much costly work is done at once. A bounded number of callers waits for a permit, in
/// the order in which they came; any further caller is refused at once. Thread-safe.
public final class Bulkhead {
  private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

  private final int permits;
  private final Semaphore running;
  private final Semaphore admitted;
  private final Duration longestWait;
  private final ProblemCode code;
  private final String refusal;

  /// The work that needs a permit.
  @FunctionalInterface
  public interface Work<T extends @Nullable Object, E extends Exception> {
    T result() throws E;
  }

  /// @param permits how much work, by weight, is done at once
  /// @param mostWaiting how much work, by weight, may wait for permits; a caller beyond that is
  ///     refused at once
  /// @param longestWait how long a caller waits for its permits before it is refused
  /// @param code of the problem that a refused caller gets
  /// @param refusal the detail of that problem
  public Bulkhead(
      int permits, int mostWaiting, Duration longestWait, ProblemCode code, String refusal) {
    this.permits = permits;
    this.running = new Semaphore(permits, true);
    this.admitted = new Semaphore(permits + mostWaiting);
    this.longestWait = longestWait;
    this.code = code;
    this.refusal = refusal;
  }

  /// Does work of weight 1.
  ///
  /// @throws ProblemException when too many callers wait already, or no permit becomes free in time
  public <T extends @Nullable Object, E extends Exception> T call(Work<T, E> work) throws E {
    return call(1, work);
  }

  /// @param weight how many permits the work takes; work that is heavier than all permits takes all
  ///     of them and runs alone
  /// @throws ProblemException when too much work waits already, or not enough permits become free
  ///     in time
  public <T extends @Nullable Object, E extends Exception> T call(int weight, Work<T, E> work)
      throws E {
    int taken = Math.min(weight, permits);
    if (!admitted.tryAcquire(taken)) {
      throw refused();
    }
    try {
      if (!running.tryAcquire(taken, longestWait.toMillis(), TimeUnit.MILLISECONDS)) {
        throw refused();
      }
      try {
        return work.result();
      } finally {
        running.release(taken);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw refused();
    } finally {
      admitted.release(taken);
    }
  }

  private ProblemException refused() {
    return ProblemException.retryable(code, refusal, RETRY_AFTER, null);
  }
}
