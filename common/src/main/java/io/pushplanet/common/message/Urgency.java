package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/// What a message may cost a device's battery; the `priority` of a send request. APNs takes it as
/// `apns-priority`
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns),
/// Web Push as `Urgency` (RFC 8030, section 5.3); FCM and HMS only know `high` and normal.
public enum Urgency {
  @JsonProperty("high")
  HIGH(Priority.HIGH),
  @JsonProperty("normal")
  NORMAL(Priority.NORMAL),

  /// Wakes no device: the device shows it when it wakes for another reason.
  @JsonProperty("low")
  LOW(Priority.NORMAL);

  private final Priority priority;

  Urgency(Priority priority) {
    this.priority = priority;
  }

  /// The priority of the message in our lanes.
  public Priority priority() {
    return priority;
  }
}
