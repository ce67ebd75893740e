package io.pushplanet.gateway.intake;

import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.gateway.order.Ticket;
import java.util.List;

/// Handles an AMQP message. When it returns, every effect of the message is durable.
public interface BatchHandler {
  /// Called on a virtual thread of its own.
  ///
  /// @param redelivered whether the broker handed the message out before
  /// @param ticket the message's place in its queue; the handler passes it before it returns, or
  ///     its caller does then
  /// @return items that can never be handled. Each becomes a dead letter of its own, so that an
  ///     operator can replay or drop it alone
  /// @throws io.pushplanet.common.wire.MalformedWire when no item can be read: the message goes to
  ///     the dead-letter queue as it is
  /// @throws RuntimeException when the message cannot be handled now: the broker hands it out again
  List<DeadItem> handle(byte[] body, boolean redelivered, Ticket ticket);

  /// The consumer takes no further messages, and waits for those in hand. A handler whose messages
  /// wait ends these waits with an exception, so that other workers get the messages.
  default void stopping() {}
}
