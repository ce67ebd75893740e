package io.pushplanet.common.delivery;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;

/// A channel to a device.
public enum Channel {
  @JsonProperty("mqtt")
  MQTT,
  @JsonProperty("apns")
  APNS,
  @JsonProperty("fcm")
  FCM,
  @JsonProperty("hms")
  HMS,
  @JsonProperty("webpush")
  WEBPUSH;

  /// As it is written in tables, queues and the API: `mqtt`.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
