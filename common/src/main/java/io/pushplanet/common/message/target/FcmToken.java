package io.pushplanet.common.message.target;

import java.time.Instant;

/// A registration token or installation id of FCM, or what stands in its place where FCM spreads a message.
///
/// @param kind `token` or `fid` of a device, [#TOPIC] or [#CONDITION] where only Google knows whose
public record FcmToken(String token, String kind, Instant registeredAt) {
  public static final String TOPIC = "topic";
  public static final String CONDITION = "condition";

  /// Whether it is one device's.
  public boolean namesDevice() {
    return !kind.equals(TOPIC) && !kind.equals(CONDITION);
  }

  @Override
  public String toString() {
    return "FcmToken[***, " + kind + "]";
  }
}
