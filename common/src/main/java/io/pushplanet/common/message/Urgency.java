package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/// What a message may cost a device's battery; the `priority` of a send request. Providers make of it what they know: APNs
/// `apns-priority`
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns), Web Push `Urgency`
/// (RFC 8030, section 5.3), FCM and HMS no more than `high` or not.
public enum Urgency {
  @JsonProperty("high")
  HIGH(Priority.HIGH),
  @JsonProperty("normal")
  NORMAL(Priority.NORMAL),

  /// Wakes no device: it is shown when the device wakes for something else.
  @JsonProperty("low")
  LOW(Priority.NORMAL);

  private final Priority priority;

  Urgency(Priority priority) {
    this.priority = priority;
  }

  /// By which it goes through our lanes.
  public Priority priority() {
    return priority;
  }
}
