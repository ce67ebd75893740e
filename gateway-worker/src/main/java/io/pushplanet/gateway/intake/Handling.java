package io.pushplanet.gateway.intake;

import static java.util.Objects.requireNonNullElse;

import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;

/// Hands a queue's messages to its handler. An unreadable message, or one at which the handler
/// fails again and again, becomes dead letters, item by item. Thread-safe.
final class Handling {
  private static final Logger LOG = LoggerFactory.getLogger(Handling.class);

  private final DeadLetters deadLetters;
  private final PoisonCounter poisonCounter = new PoisonCounter();

  Handling(DeadLetters deadLetters) {
    this.deadLetters = deadLetters;
  }

  /// Returns when the message may be acknowledged.
  ///
  /// @return `done`, or `dead` when some of its items became dead letters
  /// @throws RuntimeException (or an Error) when the broker is to hand the message out again
  String handle(Subscription subscription, byte[] body, boolean redelivered, Ticket ticket) {
    List<DeadItem> dead = dead(subscription, body, redelivered, ticket);
    if (dead.isEmpty()) {
      return "done";
    }
    deadLetters.bury(subscription.queue(), dead);
    LOG.error(
        "event=message_dead queue={} items={} reason=\"{}\"",
        subscription.queue(),
        dead.size(),
        dead.getFirst().reason());
    return "dead";
  }

  private List<DeadItem> dead(
      Subscription subscription, byte[] body, boolean redelivered, Ticket ticket) {
    try {
      return subscription.handler().handle(body, redelivered, ticket);
    } catch (MalformedWire e) {
      return List.of(new DeadItem(body, requireNonNullElse(e.getMessage(), "malformed")));
    } catch (RuntimeException | Error e) {
      if (!poisonCounter.tooMany(body, e)) {
        throw e;
      }
      LOG.error("event=message_poisoned queue={}", subscription.queue(), e);
      return handledSingly(subscription, body, ticket);
    }
  }

  /// Handles each item alone, so that one poisonous item does not take along the others of its AMQP
  /// message.
  ///
  /// @return the items that failed again
  private static List<DeadItem> handledSingly(
      Subscription subscription, byte[] body, Ticket ticket) {
    List<DeadItem> dead = new ArrayList<>();
    for (byte[] alone : WireForm.singly(body)) {
      try {
        dead.addAll(subscription.handler().handle(alone, true, ticket));
      } catch (RuntimeException | Error e) {
        if (!PoisonCounter.isBug(e)) {
          throw e;
        }
        dead.add(
            new DeadItem(alone, "internal_error: " + NestedExceptionUtils.getMostSpecificCause(e)));
      }
    }
    return dead;
  }
}
