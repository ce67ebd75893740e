package io.pushplanet.common.message.target;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One device of a message with the ways that lead to it.
///
/// @param mqtt whether the device uses our own channel
public record Recipient(
    DeviceId device, boolean mqtt, @Nullable ApnsToken apns, @Nullable FcmToken fcm) {
  /// The vendor's channel to use when MQTT is not, in the order APNs, FCM; none of `tried`.
  public Optional<Channel> vendor(Collection<Channel> tried) {
    if (apns != null && !tried.contains(Channel.APNS)) {
      return Optional.of(Channel.APNS);
    }
    if (fcm != null && !tried.contains(Channel.FCM)) {
      return Optional.of(Channel.FCM);
    }
    return Optional.empty();
  }
}
