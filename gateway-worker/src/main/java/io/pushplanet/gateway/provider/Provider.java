package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import java.util.List;
import java.util.Optional;

/// A vendor's channel. Implementations neither retry nor forget tokens: they return an outcome, and
/// the delivery decides.
public interface Provider {
  Channel channel();

  /// How many requests of all apps its connections carry at once. Further ones would wait for a
  /// connection, in the order in which they came.
  default int mostAtOnce() {
    return Integer.MAX_VALUE;
  }

  /// The outcome of a message that has to wait for long, without a request. A broadcast may consist
  /// mostly of such messages, and none of them needs a thread.
  default Optional<DeliveryOutcome> putOff(Push push) {
    return Optional.empty();
  }

  /// Waits a little until the message may leave, when the vendor limits how fast an app may send.
  /// Called before the message has a place in its lane, so that it takes no place while it waits.
  ///
  /// @return empty when the message may be sent now, otherwise its outcome
  /// @throws InterruptedException when the worker stops
  default Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
    return Optional.empty();
  }

  /// Sends one message to one device and waits for the vendor's answer, at most for the provider's
  /// request timeout after it was written. Called on virtual threads. The same push to the same
  /// recipient always carries the same id at the vendor, so that a repeat merges with the first
  /// copy.
  ///
  /// @return the meaning of the vendor's answer, or [DeliveryOutcome.TryAgain] when there was none.
  ///     Never throws for faults of a vendor, a network or a credential.
  DeliveryOutcome send(Push push, Recipient recipient);

  /// Whether one request may carry several devices of a message.
  default boolean takesNeighbours() {
    return false;
  }

  /// How many devices one request for this message may carry.
  default int mostTogether(Push push) {
    return 1;
  }

  /// Sends one message to several devices in one request, otherwise like [#send(Push, Recipient)].
  ///
  /// @return an outcome for each device, in their order; one device's outcome says nothing about
  ///     the others
  default List<DeliveryOutcome> send(Push push, List<Recipient> recipients) {
    return recipients.stream().map(recipient -> send(push, recipient)).toList();
  }
}
