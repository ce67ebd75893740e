package io.pushplanet.common.message.target;

import java.time.Instant;

/// A device token of APNs.
///
/// @param environment `production` or `sandbox`
/// @param registeredAt compared with the time since which APNs calls the token gone
public record ApnsToken(String token, String environment, Instant registeredAt) {
  /// Hexadecimal digits, far more than Apple's tokens have: "don't make assumptions about the length of the token"
  /// (https://developer.apple.com/documentation/usernotifications/registering-your-app-with-apns).
  public static final int LONGEST_TOKEN = 2_048;

  @Override
  public String toString() {
    return "ApnsToken[***, " + environment + "]";
  }
}
