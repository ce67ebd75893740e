package io.pushplanet.dashboard.app;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A row of `api_keys`, without the hash.
public record StoredKey(
    String id,
    AppId appId,
    String name,
    String scopes,
    Instant createdAt,
    @Nullable Instant revokedAt) {
  public boolean live() {
    return revokedAt == null;
  }
}
