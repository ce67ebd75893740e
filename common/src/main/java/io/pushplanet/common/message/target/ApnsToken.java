package io.pushplanet.common.message.target;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A device token of APNs.
///
/// @param environment `production` or `sandbox`
/// @param registeredAt compared with the time since which APNs calls the token gone
/// @param pushType null for alerts, as versions without push types write it
public record ApnsToken(
    String token, String environment, Instant registeredAt, @Nullable ApnsPushType pushType) {
  /// Hexadecimal digits, far more than Apple's tokens have: "don't make assumptions about the
  /// length of the token"
  /// (https://developer.apple.com/documentation/usernotifications/registering-your-app-with-apns).
  public static final int LONGEST_TOKEN = 2_048;

  public ApnsToken {
    pushType = pushType == ApnsPushType.ALERT ? null : pushType;
  }

  /// A token for alerts.
  public ApnsToken(String token, String environment, Instant registeredAt) {
    this(token, environment, registeredAt, null);
  }

  public ApnsPushType type() {
    return pushType == null ? ApnsPushType.ALERT : pushType;
  }

  @Override
  public String toString() {
    return "ApnsToken[***, " + environment + ", " + type().word() + "]";
  }
}
