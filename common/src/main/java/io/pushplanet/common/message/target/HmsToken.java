package io.pushplanet.common.message.target;

import java.time.Instant;

/// A push token of Huawei's Push Kit.
///
/// @param registeredAt compared with the time since which Huawei calls the token invalid
public record HmsToken(String token, Instant registeredAt) {
  @Override
  public String toString() {
    return "HmsToken[***]";
  }
}
