package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.JsonWebToken;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import tools.jackson.databind.json.JsonMapper;

/// A signed token that proves a team to APNs.
record ProviderToken(String jwt, Instant issuedAt) {
  static ProviderToken mint(ApnsKey key, Instant now) {
    Instant issuedAt = now.truncatedTo(ChronoUnit.SECONDS);
    String jwt =
        JsonWebToken.es256(
            key.key(),
            key.keyId(),
            JsonMapper.shared()
                .createObjectNode()
                .put("iss", key.teamId())
                .put("iat", issuedAt.getEpochSecond()));
    return new ProviderToken(jwt, issuedAt);
  }

  @Override
  public String toString() {
    return "ProviderToken[" + issuedAt + "]";
  }
}
