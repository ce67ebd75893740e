package io.pushplanet.common.route;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.message.target.WebPushSubscription;
import org.jspecify.annotations.Nullable;

/// The channels of a device, as the send path needs them: a copy of its rows in MySQL.
public record DeviceRoute(
    DeviceId device,
    Platform platform,
    boolean mqtt,
    @Nullable ApnsToken apns,
    @Nullable FcmToken fcm,
    @Nullable WebPushSubscription webpush,
    @Nullable HmsToken hms) {
  public Recipient recipient() {
    return new Recipient(device, mqtt, apns, fcm, webpush, hms, platform);
  }
}
