package io.pushplanet.common.lane;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Publishes the items of one piece of work, on any queues and one by one, and waits for the
/// broker's confirm of all of them. Thread-safe; everything is published before [#await] is called,
/// once.
///
/// The wait has no clock of its own, because the lane reports on every item in bounded time
/// ([LanePublisher.Confirmation]): a virtual thread that waits with a timeout wakes the scheduler's
/// timer thread twice, which costs more than the publishing.
public final class Confirms implements LanePublisher.Confirmation {
  private final LanePublisher lanes;
  private final @Nullable InFlightBudget budget;

  /// Items without a result yet, plus one until [#await] is called.
  private final AtomicInteger open = new AtomicInteger(1);

  private final CountDownLatch told = new CountDownLatch(1);
  private final AtomicReference<@Nullable BrokerUnavailable> failure = new AtomicReference<>();

  public Confirms(LanePublisher lanes) {
    this(lanes, null);
  }

  /// @param budget bounds the unconfirmed items of all pieces of work that share it. Without it,
  ///     pieces of work that together have more items than a lane takes would fail
  public Confirms(LanePublisher lanes, @Nullable InFlightBudget budget) {
    this.lanes = lanes;
    this.budget = budget;
  }

  /// Hands an item over and returns at once, or when the budget allows it.
  public void publish(String queue, byte[] item) {
    lanes.publish(queue, item, oneMore(item.length));
  }

  /// Waits for the budget.
  ///
  /// @return expects the result of one more item
  LanePublisher.Confirmation oneMore(int bytes) {
    LanePublisher.Confirmation told =
        budget == null ? this : new Budgeted(this, budget, budget.acquire(bytes));
    open.incrementAndGet();
    return told;
  }

  /// Whether [#await] will throw: publishing further items is useless.
  public boolean hasFailed() {
    return failure.get() != null;
  }

  /// Returns when the broker has confirmed every item.
  ///
  /// @throws BrokerUnavailable when one of them failed or was not confirmed in time; any of them
  ///     may still arrive
  public void await() {
    tellOne();
    try {
      told.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BrokerUnavailable("interrupted while waiting for the broker", e);
    }
    BrokerUnavailable why = failure.get();
    if (why != null) {
      String message = why.getMessage();
      throw new BrokerUnavailable(message == null ? "not confirmed" : message, why);
    }
  }

  @Override
  public void confirmed() {
    tellOne();
  }

  @Override
  public void failed(BrokerUnavailable why) {
    failure.compareAndSet(null, why);
    tellOne();
  }

  private void tellOne() {
    if (open.decrementAndGet() == 0) {
      told.countDown();
    }
  }

  private record Budgeted(Confirms all, InFlightBudget budget, int permits)
      implements LanePublisher.Confirmation {
    @Override
    public void confirmed() {
      budget.release(permits);
      all.confirmed();
    }

    @Override
    public void failed(BrokerUnavailable why) {
      budget.release(permits);
      all.failed(why);
    }
  }
}
