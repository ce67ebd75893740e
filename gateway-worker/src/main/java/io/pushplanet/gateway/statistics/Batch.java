package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.gateway.statistics.RefusedEvents.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The events of an AMQP message that one writer has to write. Confined to that writer, except for
/// `written`.
final class Batch {
  private final List<DeliveryEvent> events;

  private final CompletableFuture<Written> written = new CompletableFuture<>();

  private final List<DeliveryEvent> early = new ArrayList<>();
  private final List<Refusal> refused = new ArrayList<>();
  private int open;

  /// How a batch ended: every event is written, except for these.
  ///
  /// @param early events that may be written later
  /// @param refused events that the database does not take
  record Written(List<DeliveryEvent> early, List<Refusal> refused) {
    Written {
      early = List.copyOf(early);
      refused = List.copyOf(refused);
    }
  }

  Batch(List<DeliveryEvent> events) {
    this.events = List.copyOf(events);
    this.open = events.size();
  }

  List<DeliveryEvent> events() {
    return events;
  }

  CompletableFuture<Written> written() {
    return written;
  }

  void wrote() {
    close();
  }

  void isEarly(DeliveryEvent event) {
    early.add(event);
    close();
  }

  void refuse(Refusal refusal) {
    refused.add(refusal);
    close();
  }

  private void close() {
    if (--open == 0) {
      written.complete(new Written(early, refused));
    }
  }

  void fail(Throwable why) {
    written.completeExceptionally(why);
  }
}
