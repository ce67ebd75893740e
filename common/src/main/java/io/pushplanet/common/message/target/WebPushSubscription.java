package io.pushplanet.common.message.target;

import java.time.Instant;

/// A browser's push subscription (https://www.w3.org/TR/push-api/#pushsubscription-interface).
///
/// @param json `{"endpoint","keys":{"p256dh","auth"}}` as registered: another text is another
///     subscription
/// @param registeredAt compared with the time since which the push service calls the subscription
///     gone
public record WebPushSubscription(String json, Instant registeredAt) {
  /// A body of 4,096 bytes without what encryption adds: salt, record size, key, delimiter and tag
  /// (https://www.rfc-editor.org/rfc/rfc8291#section-4).
  public static final int LARGEST_MESSAGE_BYTES = 3_993;

  @Override
  public String toString() {
    return "WebPushSubscription[***]";
  }
}
