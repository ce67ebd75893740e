package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// One provider token for all workers: APNs answers 429 to a team whose token changes more often than every 20 minutes
/// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
/// Implementations are thread-safe, have a deadline and never throw: empty means that there is no sharing now.
interface SharedTokens {
  /// What is known of the token that all use.
  sealed interface Known {
    record Agreed(ProviderToken token) implements Known {}

    record None() implements Known {}

    /// There is no sharing now: nobody knows what the others use.
    record Silent() implements Known {}
  }

  /// Offers a token for the rest of its life; the first offer wins.
  ///
  /// @param refused a token that may be replaced, though its life is not over
  /// @return the token that all use
  Optional<ProviderToken> agree(
      ApnsKey key, ProviderToken offer, Optional<ProviderToken> refused, Duration life);

  Known current(ApnsKey key);

  /// The tokens that all use, in the order of the keys; empty as a whole when there is no sharing now.
  List<Optional<ProviderToken>> current(List<ApnsKey> keys);
}
