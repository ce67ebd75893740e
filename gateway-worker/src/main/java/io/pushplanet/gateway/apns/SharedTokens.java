package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One provider token of a key for all workers, and the times of its team's new tokens: APNs
/// answers 429 to a team whose token changes more often than every 20 minutes
/// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns),
/// whichever of the team's keys signed it (https://developer.apple.com/forums/thread/702056).
/// Implementations are thread-safe, have a deadline and never throw: an empty result means that
/// nothing is shared now.
interface SharedTokens {
  /// What is known of the shared token.
  sealed interface Known {
    record Agreed(ProviderToken token) implements Known {}

    record None() implements Known {}

    /// Nothing is shared now, and the other workers' token is unknown.
    record Silent() implements Known {}
  }

  /// Offers a token that was used before for the rest of its life; the first offer wins.
  ///
  /// @param refused a token that may be replaced before its life is over; null for none
  /// @return the shared token
  Optional<ProviderToken> agree(
      ApnsKey key, ProviderToken offer, @Nullable ProviderToken refused, Duration life);

  /// Offers a new token. When it wins, its time is the team's, too.
  ///
  /// @param former a token that may be replaced before its life is over; null for none
  /// @param noneSince the former token stays when the team has had a new one since; null when the
  ///     offer cannot wait
  /// @return the shared token: the offer, another worker's, or the former one
  Optional<ProviderToken> renew(
      ApnsKey key,
      ProviderToken offer,
      @Nullable ProviderToken former,
      Duration life,
      @Nullable Instant noneSince);

  Known current(ApnsKey key);

  /// The shared tokens, in the order of the keys; an empty list when nothing is shared now.
  List<Optional<ProviderToken>> current(List<ApnsKey> keys);

  /// What is known of the key's team; nothing while it cannot be asked.
  Team team(ApnsKey key);

  /// APNs accepted the key's token, which it had called one too many before.
  void accepted(ApnsKey key, Instant at);

  /// APNs called the key's only token one too many, and it waits to be accepted; or the token has
  /// ended before it is the key's turn, which is at this time.
  void waits(ApnsKey key, Instant at);
}
