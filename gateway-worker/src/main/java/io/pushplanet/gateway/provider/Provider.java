package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;

/// A vendor's channel. Implementations neither retry nor forget tokens: they answer, and the delivery story decides.
public interface Provider {
  Channel channel();

  /// Sends one message to one device and waits for the vendor's answer, at most the provider's request timeout; called on
  /// virtual threads. The same push to the same recipient always carries the same vendor-side id, so that a repeat merges.
  ///
  /// @return what the vendor said, or [DeliveryOutcome.Deferred] when it did not say anything. Never throws for what a
  ///     vendor, a network or a credential can do.
  DeliveryOutcome send(Push push, Recipient recipient);
}
