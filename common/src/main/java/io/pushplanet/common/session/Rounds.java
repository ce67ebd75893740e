package io.pushplanet.common.session;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/// Lets neighbours share a round trip without making anybody wait for neighbours: the first go at once and alone; while as many
/// rounds as may be are under way, whatever else comes gathers, and goes together when one of them ends. The busier it is,
/// the larger the rounds. Thread-safe; [#add] does not block.
public final class Rounds<T> {
  private final BlockingQueue<T> waiting;
  private final int mostTogether;
  private final int mostUnderWay;
  private final Function<List<T>, CompletionStage<?>> send;
  private final AtomicInteger underWay = new AtomicInteger();

  /// @param mostWaiting for a round
  /// @param mostTogether in one round
  /// @param mostUnderWay rounds at a time: with one, a newcomer waits for half of somebody else's round on average
  /// @param send starts a round, whose stage must end in bounded time, well or badly
  public Rounds(
      int mostWaiting,
      int mostTogether,
      int mostUnderWay,
      Function<List<T>, CompletionStage<?>> send) {
    this.waiting = new ArrayBlockingQueue<>(mostWaiting);
    this.mostTogether = mostTogether;
    this.mostUnderWay = mostUnderWay;
    this.send = send;
  }

  /// @return false when too many wait already; then it is not taken
  public boolean add(T one) {
    if (!waiting.offer(one)) {
      return false;
    }
    sendNext();
    return true;
  }

  /// Takes back all that wait.
  public List<T> withdrawAll() {
    List<T> withdrawn = new ArrayList<>();
    waiting.drainTo(withdrawn);
    return withdrawn;
  }

  private void sendNext() {
    while (!waiting.isEmpty() && mayStart()) {
      List<T> together = new ArrayList<>();
      waiting.drainTo(together, mostTogether);
      if (together.isEmpty()) {
        // Somebody else's round took it. Look again: something may have come between that and here.
        underWay.decrementAndGet();
      } else {
        started(together).whenComplete((_, _) -> ended());
      }
    }
  }

  /// An Error too ends its round: else its place would be taken for ever.
  private CompletionStage<?> started(List<T> together) {
    try {
      return send.apply(together);
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private boolean mayStart() {
    return underWay.getAndUpdate(rounds -> Math.min(rounds + 1, mostUnderWay)) < mostUnderWay;
  }

  private void ended() {
    underWay.decrementAndGet();
    sendNext();
  }
}
