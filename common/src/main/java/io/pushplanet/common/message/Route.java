package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/// The channels that a message may take.
public enum Route {
  /// MQTT when the device is connected, else its vendor's channel, else the inbox.
  @JsonProperty("auto")
  AUTO,
  /// Our own MQTT channel only; the inbox keeps it while the device is away.
  @JsonProperty("mqtt")
  MQTT,
  /// The vendor's channel only (APNs, FCM, HMS, Web Push).
  @JsonProperty("vendor")
  VENDOR
}
