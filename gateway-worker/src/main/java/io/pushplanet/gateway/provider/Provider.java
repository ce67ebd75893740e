package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import java.util.List;
import java.util.Optional;

/// A vendor's channel. Implementations neither retry nor forget tokens: they answer, and the delivery story decides.
public interface Provider {
  Channel channel();

  /// How many requests its connections carry at once, those of all apps together; more would wait there for whoever was first.
  default int mostAtOnce() {
    return Integer.MAX_VALUE;
  }

  /// What becomes of a message that is to wait for long, said without asking anybody: of a broadcast that may be most, and
  /// none of it needs a thread.
  default Optional<DeliveryOutcome> putOff(Push push) {
    return Optional.empty();
  }

  /// Waits a little until the message may leave, where the vendor bounds what an app may send; called before it has a place
  /// in its lane, so that nobody waits for it.
  ///
  /// @return empty when it may be sent now, else what becomes of it
  /// @throws InterruptedException when the worker stops
  default Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
    return Optional.empty();
  }

  /// Sends one message to one device and waits for the vendor's answer: in bounded time, the provider's request timeout after
  /// it was written; called on virtual threads. The same push to the same recipient always carries the same vendor-side id, so that a repeat merges.
  ///
  /// @return what the vendor said, or [DeliveryOutcome.Deferred] when it did not say anything. Never throws for what a
  ///     vendor, a network or a credential can do.
  DeliveryOutcome send(Push push, Recipient recipient);

  /// Whether one request may carry several devices of a message.
  default boolean takesNeighbours() {
    return false;
  }

  /// How many devices one request for this message may carry.
  default int mostTogether(Push push) {
    return 1;
  }

  /// Sends one message to as many devices in one request; else as [#send(Push, Recipient)].
  ///
  /// @return an outcome for each of them, in their order: what one of them gets says nothing of the others
  default List<DeliveryOutcome> send(Push push, List<Recipient> recipients) {
    return recipients.stream().map(recipient -> send(push, recipient)).toList();
  }
}
