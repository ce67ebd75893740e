package io.pushplanet.common.lane;

import io.pushplanet.common.lane.LaneBatch.Item;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The items of a lane from their hand-over to their result, within the limits of
/// [LanePublisher.Settings]. A thread that takes items out to send them must report a result for
/// each. Thread-safe.
final class LaneItems {
  private static final Logger LOG = LoggerFactory.getLogger(LaneItems.class);

  private final String lane;
  private final LanePublisher.Settings settings;
  private final LaneMetrics metrics;
  private final BlockingQueue<Item> waiting;

  /// AMQP messages without a confirm, over all links.
  private final Semaphore unconfirmed;

  /// Of items without a result.
  private final AtomicLong bytesUnderWay = new AtomicLong();

  LaneItems(String lane, LanePublisher.Settings settings, LaneMetrics metrics) {
    this.lane = lane;
    this.settings = settings;
    this.metrics = metrics;
    this.waiting = new ArrayBlockingQueue<>(settings.mostWaiting());
    this.unconfirmed = new Semaphore(settings.mostUnconfirmed());
    metrics.waiting(waiting, Queue::size);
    metrics.unconfirmed(unconfirmed, free -> settings.mostUnconfirmed() - free.availablePermits());
  }

  /// @return whether the item waits now; else the lane is full, and its confirmation has got the
  ///     failure
  boolean add(String queue, byte[] item, LanePublisher.Confirmation confirmation) {
    if (bytesUnderWay.addAndGet(item.length) > settings.mostBytesUnderWay()) {
      refuse(item, confirmation, settings.mostBytesUnderWay() + " bytes are not confirmed yet");
      return false;
    }
    if (!waiting.offer(new Item(queue, item, confirmation, System.nanoTime()))) {
      refuse(item, confirmation, settings.mostWaiting() + " items wait");
      return false;
    }
    return true;
  }

  private void refuse(byte[] item, LanePublisher.Confirmation confirmation, String why) {
    bytesUnderWay.addAndGet(-item.length);
    refuse(confirmation, "the lane is full: " + why);
  }

  /// Fails an item that the lane did not take in.
  void refuse(LanePublisher.Confirmation confirmation, String why) {
    metrics.failed(1);
    confirmation.failed(new BrokerUnavailable(why, null));
  }

  /// Takes the next item out; null when none comes within this time.
  @Nullable Item next(Duration within) throws InterruptedException {
    return waiting.poll(within.toMillis(), TimeUnit.MILLISECONDS);
  }

  /// Takes the waiting items out.
  void drainTo(List<Item> round, int most) {
    waiting.drainTo(round, most);
  }

  int waiting() {
    return waiting.size();
  }

  boolean areWaitingSince(long nanos) {
    Item next = waiting.peek();
    return next != null && next.isGivenBefore(nanos);
  }

  /// Waits until one more AMQP message may be unconfirmed; [#leave] ends that.
  void enter() throws IOException, InterruptedException {
    Duration within = settings.confirmWithin();
    if (!unconfirmed.tryAcquire(within.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IOException("no confirm within " + within);
    }
  }

  void leave() {
    unconfirmed.release();
  }

  /// @param items of one batch
  void confirm(List<Item> items) {
    metrics.confirmed(items);
    tell(items, LanePublisher.Confirmation::confirmed);
  }

  void failWaiting(String why) {
    List<Item> left = new ArrayList<>();
    waiting.drainTo(left);
    fail(left, why);
  }

  void fail(List<Item> items, String why) {
    if (!items.isEmpty()) {
      metrics.failed(items.size());
      BrokerUnavailable failure = new BrokerUnavailable(why, null);
      tell(items, confirmation -> confirmation.failed(failure));
    }
  }

  /// An exception of one confirmation does not keep the other items from their result.
  private void tell(List<Item> items, Consumer<LanePublisher.Confirmation> what) {
    for (Item item : items) {
      bytesUnderWay.addAndGet(-item.body().length);
      try {
        what.accept(item.confirmation());
      } catch (Throwable e) {
        LOG.error("event=lane_confirmation_failed publisher={} queue={}", lane, item.queue(), e);
      }
    }
  }
}
