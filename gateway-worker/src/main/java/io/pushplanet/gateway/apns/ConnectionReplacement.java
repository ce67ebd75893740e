package io.pushplanet.gateway.apns;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/// Says when a connection is to be replaced after a server's error. Only that one server may be in
/// trouble, so the retry is to reach another one. At most one connection per credential in
/// [#EVERY], because Apple takes many new connections for an attack. Thread-safe.
final class ConnectionReplacement {
  static final Duration EVERY = Duration.ofMinutes(1);

  private static final int MAX_CREDENTIALS = 10_000;

  private final Clock clock;
  private final Cache<String, Instant> replacedAt =
      Caffeine.newBuilder().maximumSize(MAX_CREDENTIALS).build();

  /// @param clock one that is never set back
  ConnectionReplacement(Clock clock) {
    this.clock = clock;
  }

  /// @param status of an answer on the connection that would be replaced
  boolean isWanted(String credential, int status) {
    if (status != 500 && status != 503) {
      return false;
    }
    Instant now = clock.instant();
    Map<String, Instant> times = replacedAt.asMap();
    Instant last = times.get(credential);
    if (last == null) {
      return times.putIfAbsent(credential, now) == null;
    }
    return !last.plus(EVERY).isAfter(now) && times.replace(credential, last, now);
  }
}
