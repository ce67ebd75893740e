package io.pushplanet.common.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/// Sends requests in batches without delaying any of them to fill a batch: the first requests leave
/// at once and alone. While as many batches as allowed are in flight, further requests gather, and
/// leave together when one of those batches ends. So batches grow with the load. Thread-safe;
/// [#add] does not block.
public final class RequestBatcher<T> {
  private final BlockingQueue<T> waiting;
  private final int maxPerBatch;
  private final int maxInFlight;
  private final Function<List<T>, CompletionStage<?>> send;
  private final AtomicInteger inFlight = new AtomicInteger();

  /// @param maxWaiting requests for a batch
  /// @param maxPerBatch requests
  /// @param maxInFlight batches at a time: with one, a new request waits for half of an earlier
  ///     batch's round trip on average
  /// @param send starts a batch, whose stage must end in bounded time, well or badly
  public RequestBatcher(
      int maxWaiting,
      int maxPerBatch,
      int maxInFlight,
      Function<List<T>, CompletionStage<?>> send) {
    this.waiting = new ArrayBlockingQueue<>(maxWaiting);
    this.maxPerBatch = maxPerBatch;
    this.maxInFlight = maxInFlight;
    this.send = send;
  }

  /// @return false when too many requests wait already; then the request is not taken
  public boolean add(T request) {
    if (!waiting.offer(request)) {
      return false;
    }
    sendNext();
    return true;
  }

  /// Removes all waiting requests.
  public List<T> withdrawAll() {
    List<T> withdrawn = new ArrayList<>();
    waiting.drainTo(withdrawn);
    return withdrawn;
  }

  private void sendNext() {
    while (!waiting.isEmpty() && mayStart()) {
      List<T> batch = new ArrayList<>();
      waiting.drainTo(batch, maxPerBatch);
      if (batch.isEmpty()) {
        // Another thread's batch took the requests. Look again: new ones may have come since.
        inFlight.decrementAndGet();
      } else {
        started(batch).whenComplete((_, _) -> ended());
      }
    }
  }

  /// An Error ends the batch as well: else the batch would count as in flight for ever.
  private CompletionStage<?> started(List<T> batch) {
    try {
      return send.apply(batch);
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private boolean mayStart() {
    return inFlight.getAndUpdate(batches -> Math.min(batches + 1, maxInFlight)) < maxInFlight;
  }

  private void ended() {
    inFlight.decrementAndGet();
    sendNext();
  }
}
