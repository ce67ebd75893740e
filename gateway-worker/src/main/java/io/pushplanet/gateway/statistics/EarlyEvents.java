package io.pushplanet.gateway.statistics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/// Events that arrive too early to be written: a receipt before its delivery's row, an uplink while
/// another writer holds its app's lock. They leave their AMQP message and wait in `push.early`,
/// where a worker tries them again and again. So the other events of that message are neither
/// delayed nor written twice, however many receipts a device makes up.
///
/// A receipt may get older than its patience while it waits: as long as the statistics are behind
/// or MySQL takes nothing, its delivery's row may be late, too.
///
/// Thread-safe.
final class EarlyEvents {
  /// How long the statistics must have kept up, after the first look for a receipt's delivery,
  /// until the receipt counts as made up and is dropped.
  static final Duration RECEIPT_PATIENCE = Duration.ofSeconds(30);

  private final Consumer<List<byte[]>> queue;
  private final Clock clock;
  private final Duration pause;
  private final Counter droppedReceipts;

  /// A worker that has just started does not know what lies in the queues.
  private volatile Instant keptUpSince;

  /// @param queue returns when all events are durable in `push.early`
  /// @param pause between two tries of an event
  EarlyEvents(Consumer<List<byte[]>> queue, Clock clock, Duration pause, MeterRegistry meters) {
    this.queue = queue;
    this.clock = clock;
    this.pause = pause;
    this.droppedReceipts = meters.counter("pushplanet.statistics.receipts.dropped");
    this.keptUpSince = clock.instant();
  }

  /// The writers are behind, or could not write: rows that receipts need may still be missing.
  void fellBehind() {
    keptUpSince = clock.instant();
  }

  /// Returns the events that may be written later, and drops the others.
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

  /// Returns when the events are durable.
  ///
  /// @throws io.pushplanet.common.lane.BrokerUnavailable when they may not be
  void putAside(List<DeliveryEvent> early) {
    queue.accept(early.stream().map(this::seen).map(WireForm::write).toList());
  }

  private DeliveryEvent seen(DeliveryEvent event) {
    return event instanceof DeliveryEvent.Receipt receipt && receipt.firstSeen() == null
        ? new DeliveryEvent.Receipt(
            receipt.app(),
            receipt.at(),
            receipt.message(),
            receipt.device(),
            receipt.kind(),
            clock.instant())
        : event;
  }

  /// How long to wait before the next try of these events. If it is their last one, not at all:
  /// however many there are, they leave as fast as the database can look for their rows.
  Duration pause(List<DeliveryEvent> putAside) {
    return putAside.stream().anyMatch(this::mayBeEarly) ? pause : Duration.ZERO;
  }

  private boolean mayBeEarly(DeliveryEvent event) {
    if (!(event instanceof DeliveryEvent.Receipt receipt)) {
      return true;
    }
    Instant since = receipt.firstSeen();
    if (since == null) {
      // It comes from its device, or was put aside by an older version.
      return true;
    }
    Instant patientSince = since.isAfter(keptUpSince) ? since : keptUpSince;
    return patientSince.plus(RECEIPT_PATIENCE).isAfter(clock.instant());
  }
}
