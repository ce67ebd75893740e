package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The events of an AMQP message that one writer writes, now or later. Confined to that writer but for `written`.
final class Batch {
  private final List<DeliveryEvent> events;

  /// Whether every event has its row; false where a receipt came before it.
  private final CompletableFuture<Boolean> written = new CompletableFuture<>();

  private int open;
  private boolean early;

  Batch(List<DeliveryEvent> events) {
    this.events = List.copyOf(events);
    this.open = events.size();
  }

  List<DeliveryEvent> events() {
    return events;
  }

  CompletableFuture<Boolean> written() {
    return written;
  }

  /// One of the events was written, or came too early.
  void tellOne(boolean tooEarly) {
    early |= tooEarly;
    if (--open == 0) {
      written.complete(!early);
    }
  }

  void fail(Throwable why) {
    written.completeExceptionally(why);
  }
}
