package io.pushplanet.dispatcher.lane;

import io.pushplanet.common.wire.BrokerUnavailable;
import io.pushplanet.common.wire.LanePublisher;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Waits until the broker has confirmed everything one request published, on whatever queues.
final class Confirms implements LanePublisher.Confirmation {
  /// The longest a request waits for the broker.
  static final Duration DEADLINE = Duration.ofSeconds(10);

  private final CountDownLatch open;
  private final AtomicReference<@Nullable BrokerUnavailable> failure = new AtomicReference<>();

  Confirms(int items) {
    this.open = new CountDownLatch(items);
  }

  @Override
  public void confirmed() {
    open.countDown();
  }

  @Override
  public void failed(BrokerUnavailable why) {
    failure.compareAndSet(null, why);
    open.countDown();
  }

  /// @throws BrokerUnavailable when one of them was not confirmed; any of them may still arrive
  void await() {
    try {
      if (!open.await(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new BrokerUnavailable("the broker did not confirm within " + DEADLINE, null);
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
}
