package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.gateway.statistics.Refusals.Refusal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The events of an AMQP message that one writer writes, now or later. Confined to that writer but for `written`.
final class Batch {
  private final List<DeliveryEvent> events;

  private final CompletableFuture<Written> written = new CompletableFuture<>();

  private final List<Refusal> refused = new ArrayList<>();
  private int open;
  private boolean notYet;

  /// Everything is written but this.
  ///
  /// @param notYet whether some of it is to be handed out again
  /// @param refused events that the database does not take
  record Written(boolean notYet, List<Refusal> refused) {
    Written {
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

  /// One of the events was written.
  ///
  /// @param isNotYet not so, but it may be when it is handed out again
  void tellOne(boolean isNotYet) {
    notYet |= isNotYet;
    close();
  }

  void refuse(Refusal refusal) {
    refused.add(refusal);
    close();
  }

  private void close() {
    if (--open == 0) {
      written.complete(new Written(notYet, refused));
    }
  }

  void fail(Throwable why) {
    written.completeExceptionally(why);
  }
}
