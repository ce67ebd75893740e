package io.pushplanet.gateway.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.session.DeviceKey;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// A message that waits for a device to connect.
///
/// @param user the user that it is for; null where it is for any user of the device
public record Parked(Push push, DeviceId device, @Nullable String user) {
  static final Comparator<Parked> BY_KEY =
      Comparator.comparing((Parked parked) -> parked.push().app())
          .thenComparing(Parked::device)
          .thenComparing(Parked::slot)
          .thenComparing(parked -> parked.push().id());

  /// A message for any user of the device.
  public Parked(Push push, DeviceId device) {
    this(push, device, null);
  }

  DeviceKey key() {
    return new DeviceKey(push.app(), device);
  }

  /// Messages of one slot replace each other. The slot is the collapse key, or the message's own id
  /// where there is none.
  String slot() {
    String collapseKey = push.delivery().collapseKey();
    return collapseKey == null ? push.id().value() : collapseKey;
  }
}
