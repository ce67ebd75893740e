package io.pushplanet.dispatcher.access;

import io.pushplanet.common.access.Scope;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A row of `api_keys`.
record StoredKey(String id, String appId, byte[] hash, String scopes, @Nullable Instant revokedAt) {
  /// Does not build a set of scopes, because this is asked for every request.
  boolean may(Scope scope) {
    String word = scope.word();
    for (int at = scopes.indexOf(word); at >= 0; at = scopes.indexOf(word, at + 1)) {
      int end = at + word.length();
      if ((at == 0 || scopes.charAt(at - 1) == ',')
          && (end == scopes.length() || scopes.charAt(end) == ',')) {
        return true;
      }
    }
    return false;
  }

  /// Whatever the time is: the clock of the process that has revoked the key may be ahead.
  boolean isRevoked() {
    return revokedAt != null;
  }
}
