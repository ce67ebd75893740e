package io.pushplanet.gateway.statistics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/// Events that came before what they need: a receipt before its delivery's row, an uplink while somebody else holds its app's.
/// They leave the AMQP message that they came in and wait in `push.early`, where they are looked at again and again. Nobody who
/// shared a message with them is written twice for it or waits, however many receipts a device makes up.
///
/// Thread-safe.
final class EarlyEvents {
  /// How long a receipt may be ahead of its delivery's row; after that it is taken for made up and dropped.
  static final Duration RECEIPT_PATIENCE = Duration.ofSeconds(30);

  private final Consumer<List<byte[]>> queue;
  private final Clock clock;
  private final Duration pause;
  private final Counter droppedReceipts;

  /// @param queue returns when all of it is durable in `push.early`
  /// @param pause between two looks at an event
  EarlyEvents(Consumer<List<byte[]>> queue, Clock clock, Duration pause, MeterRegistry meters) {
    this.queue = queue;
    this.clock = clock;
    this.pause = pause;
    this.droppedReceipts = meters.counter("pushplanet.statistics.receipts.dropped");
  }

  /// Those that may be written later; others are dropped.
  Set<DeliveryEvent> among(List<DeliveryEvent> unwritten) {
    Set<DeliveryEvent> early = new HashSet<>();
    for (DeliveryEvent event : unwritten) {
      if (mayBeEarly(event)) {
        early.add(event);
      } else {
        droppedReceipts.increment();
      }
    }
    return early;
  }

  /// Returns when they are durable.
  ///
  /// @throws io.pushplanet.common.lane.BrokerUnavailable when they may not be
  void putAside(List<DeliveryEvent> early) {
    queue.accept(early.stream().map(WireForm::write).toList());
  }

  /// How long to wait before these are looked at again. Not at all where this look is the last: however many there are, they go as
  /// fast as they can be looked for.
  Duration pause(List<DeliveryEvent> putAside) {
    return putAside.stream().anyMatch(this::mayBeEarly) ? pause : Duration.ZERO;
  }

  private boolean mayBeEarly(DeliveryEvent event) {
    return !(event instanceof DeliveryEvent.Receipt receipt)
        || receipt.at().plus(RECEIPT_PATIENCE).isAfter(clock.instant());
  }
}
