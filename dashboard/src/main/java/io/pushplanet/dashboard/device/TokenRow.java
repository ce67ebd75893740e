package io.pushplanet.dashboard.device;

import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A row of `channel_tokens`. A token is enough to address the device, so pages show only its ends.
record TokenRow(
    String channel,
    String token,
    String kind,
    String environment,
    Instant registeredAt,
    @Nullable Instant deadAt,
    @Nullable String deadReason) {
  private static final int SHOWN = 6;
  private static final Set<String> USUAL = Set.of("token", "subscription");

  public String masked() {
    if (token.length() < 4 * SHOWN) {
      return "…";
    }
    return token.substring(0, SHOWN) + "…" + token.substring(token.length() - SHOWN);
  }

  /// The environment of the token, and its type unless that is the usual one: `production, voip`.
  public String use() {
    return USUAL.contains(kind) ? environment : environment + ", " + kind;
  }

  @Override
  public String toString() {
    return "TokenRow[" + channel + ", " + masked() + "]";
  }
}
