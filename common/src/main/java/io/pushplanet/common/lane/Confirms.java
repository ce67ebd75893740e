package io.pushplanet.common.lane;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What one piece of work publishes, on whatever queues and as it comes, and the wait for the broker's word on all of it.
/// Thread-safe; everything is published before [#await] is called, once.
///
/// The wait has no clock of its own, because the lane tells of every item in bounded time ([LanePublisher.Confirmation]): a
/// virtual thread that waits with a timeout wakes the scheduler's timer thread twice, which cost more than the publishing.
public final class Confirms implements LanePublisher.Confirmation {
  private final LanePublisher lanes;
  private final @Nullable Room room;

  /// Items not told yet, and one for whoever has not called [#await].
  private final AtomicInteger open = new AtomicInteger(1);

  private final CountDownLatch told = new CountDownLatch(1);
  private final AtomicReference<@Nullable BrokerUnavailable> failure = new AtomicReference<>();

  public Confirms(LanePublisher lanes) {
    this(lanes, null);
  }

  /// @param room shared with others, for what of all of them is under way at once. Pieces of work that together have more than a
  ///     lane takes would otherwise fail
  public Confirms(LanePublisher lanes, @Nullable Room room) {
    this.lanes = lanes;
    this.room = room;
  }

  /// Hands an item over and returns at once, or when there is room.
  public void publish(String queue, byte[] item) {
    LanePublisher.Confirmation told =
        room == null ? this : new Placed(this, room, room.enter(item.length));
    open.incrementAndGet();
    lanes.publish(queue, item, told);
  }

  /// Whether [#await] will throw: whatever is published from now on is in vain.
  public boolean hasFailed() {
    return failure.get() != null;
  }

  /// Returns when the broker has confirmed every item.
  ///
  /// @throws BrokerUnavailable when one of them failed or was not confirmed in time; any of them may still arrive
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

  private record Placed(Confirms all, Room room, int places) implements LanePublisher.Confirmation {
    @Override
    public void confirmed() {
      room.leave(places);
      all.confirmed();
    }

    @Override
    public void failed(BrokerUnavailable why) {
      room.leave(places);
      all.failed(why);
    }
  }
}
