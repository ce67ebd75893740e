package io.pushplanet.common.wire;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// What one piece of work publishes, on whatever queues and as it comes, and the wait for the broker's word on all of it.
/// Thread-safe; everything is published before [#await] is called, once.
public final class Confirms implements LanePublisher.Confirmation {
  private final LanePublisher lanes;
  private final AtomicInteger published = new AtomicInteger();
  private final Semaphore heard = new Semaphore(0);
  private final AtomicReference<@Nullable BrokerUnavailable> failure = new AtomicReference<>();

  public Confirms(LanePublisher lanes) {
    this.lanes = lanes;
  }

  /// Hands an item over and returns at once.
  public void publish(String queue, byte[] item) {
    published.incrementAndGet();
    lanes.publish(queue, item, this);
  }

  /// Returns when the broker has confirmed every item.
  ///
  /// @throws BrokerUnavailable when one of them failed or was not confirmed in time; any of them may still arrive
  public void await() {
    try {
      if (!heard.tryAcquire(
          published.get(), lanes.confirmWithin().toMillis(), TimeUnit.MILLISECONDS)) {
        throw new BrokerUnavailable(
            "the broker did not confirm within " + lanes.confirmWithin(), null);
      }
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
    heard.release();
  }

  @Override
  public void failed(BrokerUnavailable why) {
    failure.compareAndSet(null, why);
    heard.release();
  }
}
