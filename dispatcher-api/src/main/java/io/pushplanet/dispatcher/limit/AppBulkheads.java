package io.pushplanet.dispatcher.limit;

import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A [Bulkhead] for all apps, of whose permits no app gets more than half. An app that asks for
/// more waits in a [Bulkhead] of its own, and the other apps find the other half free. Thread-safe.
public final class AppBulkheads {
  private final int half;
  private final Bulkhead shared;
  private final Supplier<Bulkhead> newForApp;
  private final ConcurrentMap<AppId, ForApp> byApp = new ConcurrentHashMap<>();

  /// @param permits at least 2
  /// @param mostWaiting how much work, by weight, may wait; of one app half of that. A caller
  ///     beyond that is refused at once
  /// @param longestWait in each of the two bulkheads, the app's and the shared one
  /// @param code of the problem that a refused caller gets
  /// @param refusal the detail of that problem
  public AppBulkheads(
      int permits, int mostWaiting, Duration longestWait, ProblemCode code, String refusal) {
    this.half = permits / 2;
    this.shared = new Bulkhead(permits, mostWaiting, longestWait, code, refusal);
    this.newForApp = () -> new Bulkhead(half, mostWaiting / 2, longestWait, code, refusal);
  }

  private static final class ForApp {
    final Bulkhead bulkhead;
    int callers;

    ForApp(Bulkhead bulkhead) {
      this.bulkhead = bulkhead;
    }
  }

  /// @param weight how many permits the work takes; work that is heavier than half of all permits
  ///     takes that half
  /// @throws ProblemException when too much work waits already, or not enough permits become free
  ///     in time
  public <T extends @Nullable Object, E extends Exception> T call(
      AppId app, int weight, Bulkhead.Work<T, E> work) throws E {
    int taken = Math.min(weight, half);
    ForApp own =
        byApp.compute(
            app,
            (_, before) -> {
              ForApp one = before == null ? new ForApp(newForApp.get()) : before;
              one.callers++;
              return one;
            });
    try {
      return own.bulkhead.call(taken, () -> shared.call(taken, work));
    } finally {
      byApp.computeIfPresent(app, (_, one) -> --one.callers == 0 ? null : one);
    }
  }

  /// Apps whose work is running or waiting.
  int apps() {
    return byApp.size();
  }
}
