package io.pushplanet.gateway.parcel;

import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import java.util.List;

/// One message for one device: the unit that succeeds or fails alone.
///
/// @param repeat whether it may have been sent, parked or ended before
/// @param waited whether it was addressed so long ago that its device may have another user or
///     another token by now, or be deleted
public record Parcel(Push push, Recipient recipient, boolean repeat, boolean waited) {
  /// One that was addressed just now, unless it was put off or tried before.
  public Parcel(Push push, Recipient recipient, boolean repeat) {
    this(push, recipient, repeat, !push.onFirstWay());
  }

  public DeviceKey key() {
    return new DeviceKey(push.app(), recipient.device());
  }

  /// The message for this device only.
  public Push alone() {
    return push.to(List.of(recipient));
  }

  /// The same to where its device is now.
  Parcel to(Recipient current) {
    return new Parcel(push, current, repeat, waited);
  }
}
