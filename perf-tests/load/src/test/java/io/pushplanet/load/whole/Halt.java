package io.pushplanet.load.whole;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.Arrivals;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/// Passes on arrivals, and after a number of them blocks the fleet, which has one thread: no device
/// acknowledges any more.
final class Halt implements Arrivals {
  private final Arrivals to;
  private final AtomicInteger left;
  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);

  Halt(Arrivals to, int after) {
    this.to = to;
    this.left = new AtomicInteger(after);
  }

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    to.arrived(device, messageId, nanos);
    if (left.decrementAndGet() == 0) {
      reached.countDown();
      await(goOn);
    }
  }

  void awaitReached() {
    await(reached);
  }

  void goOn() {
    goOn.countDown();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(WholePlatform.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
