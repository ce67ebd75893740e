package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.gateway.credential.Credential.VapidKey;
import io.pushplanet.gateway.credential.JsonWebToken;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Tells a push service the sender (https://www.rfc-editor.org/rfc/rfc8292#section-2), by a signed
/// token for its origin. A token is made once per credential and origin and used until shortly
/// before its end. Each process makes its own, because push services accept several. Thread-safe.
final class VapidTokens {
  /// Half of the 24 hours that are allowed leaves room for clocks that differ.
  static final Duration LIFE = Duration.ofHours(12);

  static final Duration RENEWED_EARLY = Duration.ofHours(1);
  private static final int MAX_TOKENS = 10_000;

  private final Clock clock;
  private final ProviderMetrics metrics;
  private final Cache<Key, Token> tokens = Caffeine.newBuilder().maximumSize(MAX_TOKENS).build();

  private record Key(String fingerprint, String origin) {}

  private record Token(String authorization, Instant madeAt) {
    /// Not when the clock was set back since: its end could be further ahead than 24 hours.
    boolean isUsable(Instant now) {
      return !madeAt.isAfter(now) && now.isBefore(madeAt.plus(LIFE).minus(RENEWED_EARLY));
    }

    @Override
    public String toString() {
      return "Token[***]";
    }
  }

  VapidTokens(Clock clock, ProviderMetrics metrics) {
    this.clock = clock;
    this.metrics = metrics;
  }

  /// The `Authorization` header of a request to `origin`.
  String authorization(VapidKey credential, String origin) {
    return tokens
        .asMap()
        .compute(
            new Key(credential.fingerprint(), origin),
            (_, held) -> {
              // Read here: a moment before, the token of another thread would seem to come later.
              Instant now = clock.instant();
              return held != null && held.isUsable(now) ? held : minted(credential, origin, now);
            })
        .authorization();
  }

  private Token minted(VapidKey credential, String origin, Instant now) {
    ObjectNode claims =
        JsonMapper.shared()
            .createObjectNode()
            .put("aud", origin)
            .put("exp", now.plus(LIFE).getEpochSecond())
            .put("sub", credential.subject());
    String token = JsonWebToken.es256(credential.key(), "", claims);
    metrics.tokenMinted();
    return new Token("vapid t=" + token + ", k=" + credential.publicKey(), now);
  }
}
