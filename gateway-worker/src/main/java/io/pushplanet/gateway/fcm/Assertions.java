package io.pushplanet.gateway.fcm;

import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.JsonWebToken;
import io.pushplanet.gateway.oauth.TokenRequest;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// The assertion that a service account signs to get an access token
/// (https://developers.google.com/identity/protocols/oauth2/service-account#httprest).
final class Assertions {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
  private static final String GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  private static final Duration LIFE = Duration.ofMinutes(55);

  private Assertions() {}

  /// @param endpoint replaces the service account's own
  static TokenRequest of(FcmServiceAccount account, @Nullable URI endpoint, Instant now) {
    URI audience = endpoint == null ? account.tokenUri() : endpoint;
    String assertion =
        JsonWebToken.rs256(
            account.key(),
            account.keyId(),
            JSON.createObjectNode()
                .put("iss", account.clientEmail())
                .put("scope", SCOPE)
                .put("aud", audience.toString())
                .put("iat", now.getEpochSecond())
                .put("exp", now.plus(LIFE).getEpochSecond()));
    return new TokenRequest(audience, Map.of("grant_type", GRANT, "assertion", assertion));
  }
}
