package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How to deliver a message.
///
/// @param ttl how long it may wait, from 0 (now or never) to [#LONGEST_TTL]
/// @param collapseKey of the waiting messages with one key only the newest is kept; at most 64
///     bytes
/// @param fallbackAfter how long an MQTT delivery may wait for the device's acknowledgement before
///     the vendor's channel is tried, from 0. A worker waits [#DEFAULT_FALLBACK_AFTER] at most, and
///     [#LONGEST_FALLBACK_AFTER] for a part of its messages
public record DeliveryOptions(
    Route route,
    Duration ttl,
    @JsonProperty("priority") Urgency urgency,
    @Nullable String collapseKey,
    Duration fallbackAfter) {
  /// FCM keeps a message 28 days at most
  /// (https://firebase.google.com/docs/cloud-messaging/customize-messages/setting-message-lifespan).
  public static final Duration LONGEST_TTL = Duration.ofDays(28);

  /// APNs refuses a longer `apns-collapse-id`
  /// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
  public static final int LONGEST_COLLAPSE_KEY_BYTES = 64;

  public static final Duration DEFAULT_TTL = Duration.ofDays(3);
  public static final Duration DEFAULT_FALLBACK_AFTER = Duration.ofSeconds(5);

  /// A worker holds the broker's message until the device's node has answered, and a node waits for
  /// a device no longer than this (`cm.delivery.longest-wait`).
  public static final Duration LONGEST_FALLBACK_AFTER = Duration.ofSeconds(30);

  public static final DeliveryOptions DEFAULT =
      new DeliveryOptions(Route.AUTO, DEFAULT_TTL, Urgency.HIGH, null, DEFAULT_FALLBACK_AFTER);

  public DeliveryOptions {
    if (ttl.isNegative() || ttl.compareTo(LONGEST_TTL) > 0) {
      throw new IllegalArgumentException("ttl is between PT0S and P28D");
    }
    if (fallbackAfter.isNegative()) {
      throw new IllegalArgumentException("fallback_after is not negative");
    }
    if (collapseKey != null
        && (collapseKey.isEmpty()
            || collapseKey.getBytes(StandardCharsets.UTF_8).length > LONGEST_COLLAPSE_KEY_BYTES)) {
      throw new IllegalArgumentException("collapse_key has 1 to 64 bytes");
    }
  }

  /// The priority of the message in our lanes.
  public Priority priority() {
    return urgency.priority();
  }

  /// The same options with another route.
  public DeliveryOptions over(Route other) {
    return new DeliveryOptions(other, ttl, urgency, collapseKey, fallbackAfter);
  }
}
