package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;

/// What a message may cost a device's battery; the `priority` of a send request. APNs takes it as
/// `apns-priority`
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns),
/// Web Push as `Urgency` (RFC 8030, section 5.3); FCM and HMS only know `high` and normal.
public enum Urgency {
  @JsonProperty("high")
  HIGH(Priority.HIGH, "10", "high"),
  @JsonProperty("normal")
  NORMAL(Priority.NORMAL, "5", "normal"),

  /// Wakes no device: the device shows it when it wakes for another reason.
  @JsonProperty("low")
  LOW(Priority.NORMAL, "1", "low");

  private final Priority priority;
  private final String apnsPriority;
  private final String webPushUrgency;

  Urgency(Priority priority, String apnsPriority, String webPushUrgency) {
    this.priority = priority;
    this.apnsPriority = apnsPriority;
    this.webPushUrgency = webPushUrgency;
  }

  /// The priority of the message in our lanes.
  public Priority priority() {
    return priority;
  }

  /// The header `apns-priority`.
  public String apnsPriority() {
    return apnsPriority;
  }

  /// The header `Urgency`.
  public String webPushUrgency() {
    return webPushUrgency;
  }
}
