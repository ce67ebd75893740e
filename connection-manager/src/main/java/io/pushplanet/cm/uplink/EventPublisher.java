package io.pushplanet.cm.uplink;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.wire.WireForm;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Publishes events to `push.events`: each is reported once the broker has confirmed it, and
/// retried (every 200 to 400 ms) while the broker is away. At most `maxOpen` are unconfirmed at
/// once. Thread-safe; does not block.
public final class EventPublisher implements Events, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventPublisher.class);

  private final LanePublisher lane;
  private final int maxOpen;
  private final RandomGenerator random;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicBoolean full = new AtomicBoolean();
  private final Queue<Told> failed = new ConcurrentLinkedQueue<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Counter retries;
  private final Counter refused;

  private record Told(byte[] event, Runnable confirmed) {}

  EventPublisher(LanePublisher lane, int maxOpen, RandomGenerator random, MeterRegistry meters) {
    this.lane = lane;
    this.maxOpen = maxOpen;
    this.random = random;
    this.retries = meters.counter("cm.uplink.events.retried");
    this.refused = meters.counter("cm.uplink.events.refused");
    Gauge.builder("cm.uplink.events.open", open, AtomicInteger::get).register(meters);
    Thread.ofPlatform().name("cm-event-retry").daemon().start(this::retry);
  }

  public boolean isConnected() {
    return lane.connected();
  }

  @Override
  public boolean tell(DeliveryEvent event, Runnable confirmed) {
    if (open.incrementAndGet() > maxOpen) {
      open.decrementAndGet();
      refused.increment();
      if (full.compareAndSet(false, true)) {
        LOG.warn("event=events_full open={} allowed=cm.uplink.max-open", maxOpen);
      }
      return false;
    }
    try {
      publish(new Told(WireForm.write(event), confirmed));
      return true;
    } catch (Throwable e) {
      leave();
      throw e;
    }
  }

  private void leave() {
    if (open.decrementAndGet() == maxOpen / 2 && full.compareAndSet(true, false)) {
      LOG.info("event=events_flow_again");
    }
  }

  private void publish(Told told) {
    lane.publish(
        Topology.EVENTS,
        told.event(),
        new LanePublisher.Confirmation() {
          @Override
          public void confirmed() {
            leave();
            told.confirmed().run();
          }

          @Override
          public void failed(BrokerUnavailable why) {
            failed.add(told);
          }
        });
  }

  private void retry() {
    try {
      while (!closed.await(pauseMillis(), TimeUnit.MILLISECONDS)) {
        try {
          retryOnce();
        } catch (Throwable e) {
          // Errors are caught, too: if this thread ended, failed events would never be retried.
          LOG.warn("event=events_not_retried reason=\"{}\"", e.toString());
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void retryOnce() {
    for (int left = failed.size(); left > 0 && lane.connected(); left--) {
      Told told = failed.poll();
      if (told == null) {
        return;
      }
      try {
        retries.increment();
        publish(told);
      } catch (Throwable e) {
        failed.add(told);
        throw e;
      }
    }
  }

  /// Longer while no event has failed, so that an idle node does not wake in vain.
  private int pauseMillis() {
    int least = failed.isEmpty() ? 1_000 : 200;
    return least + random.nextInt(least);
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
