package io.pushplanet.gateway.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Push;
import java.util.Comparator;

/// A message that waits for a device to connect.
public record Parked(Push push, DeviceId device) {
  static final Comparator<Parked> BY_KEY =
      Comparator.comparing((Parked parked) -> parked.push().app())
          .thenComparing(Parked::device)
          .thenComparing(Parked::slot)
          .thenComparing(parked -> parked.push().id());

  /// Messages of one slot replace each other: the collapse key, or the message's own id where there is none.
  String slot() {
    String collapseKey = push.delivery().collapseKey();
    return collapseKey == null ? push.id().value() : collapseKey;
  }
}
