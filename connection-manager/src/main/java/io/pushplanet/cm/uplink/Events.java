package io.pushplanet.cm.uplink;

import io.pushplanet.common.delivery.DeliveryEvent;

/// Publishes events. Thread-safe; does not block.
public interface Events {
  /// @param confirmed runs when the event is durable, on another thread; must not block
  /// @return false when too many events are unconfirmed already: the caller must not acknowledge
  ///     the cause of this one
  boolean tell(DeliveryEvent event, Runnable confirmed);
}
