package io.pushplanet.common.message.target;

import java.time.Instant;

/// A registration token or installation id of FCM.
///
/// @param kind `token` or `fid`
public record FcmToken(String token, String kind, Instant registeredAt) {
  @Override
  public String toString() {
    return "FcmToken[***, " + kind + "]";
  }
}
