package io.pushplanet.cm.uplink;

import io.pushplanet.common.delivery.DeliveryEvent;

/// Where outcomes are told. Thread-safe; nobody waits.
public interface Events {
  /// @param confirmed runs when the event is durable, on another thread: must not block
  /// @return false when too many events are open already: the caller must not acknowledge what caused this one
  boolean tell(DeliveryEvent event, Runnable confirmed);
}
