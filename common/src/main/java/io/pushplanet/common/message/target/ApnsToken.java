package io.pushplanet.common.message.target;

import java.time.Instant;

/// A device token of APNs.
///
/// @param environment `production` or `sandbox`
/// @param registeredAt compared with the time since which APNs calls the token gone
public record ApnsToken(String token, String environment, Instant registeredAt) {
  @Override
  public String toString() {
    return "ApnsToken[***, " + environment + "]";
  }
}
