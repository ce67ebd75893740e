package io.pushplanet.dispatcher.access;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A row of `api_keys`.
record StoredKey(String id, String appId, byte[] hash, String scopes, @Nullable Instant revokedAt) {
  boolean revokedAt(Instant now) {
    return revokedAt != null && !now.isBefore(revokedAt);
  }
}
