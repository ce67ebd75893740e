package io.pushplanet.gateway.intake;

import io.pushplanet.gateway.order.Ticket;

/// What is done with an AMQP message. When it returns, every effect of the message is durable.
public interface BatchHandler {
  /// Called on a virtual thread of its own.
  ///
  /// @param redelivered whether the broker handed the message out before
  /// @param ticket its place among those of its queue; it is passed at the latest when this returns
  /// @throws DeadItems when some of it can never be handled and all else is durable: these go to the dead-letter queue
  /// @throws io.pushplanet.common.wire.MalformedWire when nothing of it can be read: it goes there as it is
  /// @throws RuntimeException when it cannot be handled now: the broker hands it out again
  void handle(byte[] body, boolean redelivered, Ticket ticket);
}
