package io.pushplanet.gateway.parcel;

import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import java.util.List;

/// One message for one device: the unit that succeeds or fails alone.
///
/// @param repeat whether it may have been sent, parked or ended before
public record Parcel(Push push, Recipient recipient, boolean repeat) {
  public DeviceKey key() {
    return new DeviceKey(push.app(), recipient.device());
  }

  /// The message for this device only.
  public Push alone() {
    return push.to(List.of(recipient));
  }
}
