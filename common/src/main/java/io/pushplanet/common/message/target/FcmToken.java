package io.pushplanet.common.message.target;

import java.time.Instant;

/// A registration token or installation id of FCM, or a topic or condition that stands in its
/// place.
///
/// @param kind `token` or `fid` of a device, [#TOPIC] or [#CONDITION] of followers that only Google
///     knows
public record FcmToken(String token, String kind, Instant registeredAt) {
  public static final String TOPIC = "topic";
  public static final String CONDITION = "condition";

  /// Whether it addresses one device.
  public boolean namesDevice() {
    return !kind.equals(TOPIC) && !kind.equals(CONDITION);
  }

  @Override
  public String toString() {
    return "FcmToken[***, " + kind + "]";
  }
}
