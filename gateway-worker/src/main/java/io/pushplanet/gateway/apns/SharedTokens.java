package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One provider token for all workers: APNs answers 429 to a team whose token changes more often
/// than every 20 minutes
/// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
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

  /// Offers a token for the rest of its life; the first offer wins.
  ///
  /// @param refused a token that may be replaced before its life is over; null for none
  /// @return the shared token
  Optional<ProviderToken> agree(
      ApnsKey key, ProviderToken offer, @Nullable ProviderToken refused, Duration life);

  Known current(ApnsKey key);

  /// The shared tokens, in the order of the keys; an empty list when nothing is shared now.
  List<Optional<ProviderToken>> current(List<ApnsKey> keys);
}
