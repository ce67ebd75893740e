package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/// When a team's keys had their latest new tokens, and which keys wait for APNs to accept one. A
/// key is named by [#name(ApnsKey)].
///
/// @param renewals when each key's latest token was made; or accepted, when APNs had called it one
///     too many before
/// @param waiting when APNs last called the only token of a key one too many; or until when a key
///     waits whose token has ended
record Team(Map<String, Instant> renewals, Map<String, Instant> waiting) {
  static final Team UNKNOWN = new Team(Map.of(), Map.of());

  /// A key that has had no new token for so long counts no more.
  static final Duration REMEMBERED = Duration.ofDays(7);

  /// A key whose token is tried every 30 seconds and was not refused for so long waits no more.
  private static final Duration STILL_WAITS = Duration.ofMinutes(2);

  Team {
    renewals = Map.copyOf(renewals);
    waiting = Map.copyOf(waiting);
  }

  /// Contains the secret's fingerprint, because a corrected upload of a key id has tokens of its
  /// own.
  static String name(ApnsKey key) {
    return key.keyId() + ":" + key.fingerprint();
  }

  boolean hasOthersThan(ApnsKey key) {
    return renewals.keySet().stream().anyMatch(name -> !name.equals(name(key)));
  }

  /// Whether another key goes first.
  boolean anotherWaits(ApnsKey key, Instant now) {
    return waiting.entrySet().stream()
        .filter(it -> !it.getKey().equals(name(key)))
        .map(Map.Entry::getValue)
        .anyMatch(at -> at.isAfter(now.minus(STILL_WAITS)) && at.isBefore(ahead(now)));
  }

  /// The last new token that any of its keys has had since. Times from [#ahead] on do not count.
  Optional<Instant> renewalSince(Instant since) {
    return renewals.values().stream()
        .filter(at -> at.isAfter(since) && at.isBefore(ahead(since)))
        .max(Comparator.naturalOrder());
  }

  /// Later than any clock may say now, if it was right to ask for so long a time: such a time is of
  /// a clock that was set back.
  static Instant ahead(Instant since) {
    return since.plus(ProviderTokens.TEAM_RENEWED_EVERY.multipliedBy(2));
  }

  /// When the key's token was made, or accepted after it had been refused.
  Optional<Instant> renewal(ApnsKey key) {
    return Optional.ofNullable(renewals.get(name(key)));
  }
}
