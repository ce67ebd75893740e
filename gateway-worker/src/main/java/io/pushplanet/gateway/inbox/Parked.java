package io.pushplanet.gateway.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.session.DeviceKey;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// A message that waits for a device to connect.
///
/// @param user for whom it is while they have the device; null where it is for whoever has it
public record Parked(Push push, DeviceId device, @Nullable String user) {
  static final Comparator<Parked> BY_KEY =
      Comparator.comparing((Parked parked) -> parked.push().app())
          .thenComparing(Parked::device)
          .thenComparing(Parked::slot)
          .thenComparing(parked -> parked.push().id());

  /// One for whoever has the device.
  public Parked(Push push, DeviceId device) {
    this(push, device, null);
  }

  DeviceKey key() {
    return new DeviceKey(push.app(), device);
  }

  /// Messages of one slot replace each other: the collapse key, or the message's own id where there is none.
  String slot() {
    String collapseKey = push.delivery().collapseKey();
    return collapseKey == null ? push.id().value() : collapseKey;
  }
}
