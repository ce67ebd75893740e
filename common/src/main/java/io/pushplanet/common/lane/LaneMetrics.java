package io.pushplanet.common.lane;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/// The metrics of a [LanePublisher], tagged with its name. Thread-safe.
final class LaneMetrics {
  private final String publisher;
  private final MeterRegistry meters;
  private final Counter confirmedItems;
  private final Counter failedItems;
  private final DistributionSummary batchSizes;
  private final Map<String, Timer> confirmTimes = new ConcurrentHashMap<>();

  LaneMetrics(String publisher, MeterRegistry meters) {
    this.publisher = publisher;
    this.meters = meters;
    this.confirmedItems =
        meters.counter("pushplanet.lane.items", "publisher", publisher, "result", "confirmed");
    this.failedItems =
        meters.counter("pushplanet.lane.items", "publisher", publisher, "result", "failed");
    this.batchSizes =
        DistributionSummary.builder("pushplanet.lane.batch")
            .tag("publisher", publisher)
            .register(meters);
  }

  <T> void waiting(T of, ToDoubleFunction<T> items) {
    Gauge.builder("pushplanet.lane.waiting", of, items)
        .tag("publisher", publisher)
        .register(meters);
  }

  <T> void unconfirmed(T of, ToDoubleFunction<T> messages) {
    Gauge.builder("pushplanet.lane.unconfirmed", of, messages)
        .tag("publisher", publisher)
        .register(meters);
  }

  <T> void connected(T of, ToDoubleFunction<T> connections) {
    Gauge.builder("pushplanet.lane.connected", of, connections)
        .tag("publisher", publisher)
        .register(meters);
  }

  void sent(LaneBatch batch) {
    batchSizes.record(batch.items().size());
  }

  void failed(int items) {
    failedItems.increment(items);
  }

  /// @param items of one batch
  void confirmed(List<LaneBatch.Item> items) {
    confirmedItems.increment(items.size());
    Timer timer = confirmTimes.computeIfAbsent(items.getFirst().queue(), this::confirmTime);
    long now = System.nanoTime();
    items.forEach(item -> timer.record(now - item.givenNanos(), TimeUnit.NANOSECONDS));
  }

  private Timer confirmTime(String queue) {
    return Timer.builder("pushplanet.lane.confirm")
        .description("from the hand-over of an item to the broker's confirm")
        .tag("publisher", publisher)
        .tag("queue", queue)
        .publishPercentileHistogram()
        .register(meters);
  }
}
