package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.server.AccessTokens;
import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Google's token endpoint for service accounts
/// (https://developers.google.com/identity/protocols/oauth2/service-account#httprest).
///
/// Thread-safe.
final class OAuth {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  private static final List<String> SCOPES =
      List.of(
          "https://www.googleapis.com/auth/firebase.messaging",
          "https://www.googleapis.com/auth/cloud-platform");
  private static final Duration LONGEST_ASSERTION = Duration.ofHours(1);
  private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

  private final FcmDirectory directory;
  private final AccessTokens tokens;
  private final Clock clock;

  OAuth(FcmDirectory directory, Clock clock) {
    this.directory = directory;
    this.tokens = new AccessTokens(directory.accessSecret(), clock);
    this.clock = clock;
  }

  Reaction.Answer token(Request request) {
    if (!request.method().equals("POST")) {
      return Reaction.Answer.json(405, "{\"error\":\"method_not_allowed\"}");
    }
    if (!request.form("grant_type").orElse("").equals(GRANT)) {
      return refusal("unsupported_grant_type", "Invalid grant_type");
    }
    return account(request.form("assertion").orElse(""))
        .map(account -> tokens.granted(account.projectId()))
        .orElseGet(() -> refusal("invalid_grant", "Invalid JWT: signature, times, scope or aud"));
  }

  /// The project an access token is for, if it is good now.
  Optional<String> project(String accessToken) {
    return tokens
        .read(accessToken)
        .filter(claim -> !claim.expired())
        .map(AccessTokens.Claim::subject);
  }

  private Optional<FcmAccount> account(String assertion) {
    String[] parts = assertion.split("\\.", -1);
    if (parts.length != 3) {
      return Optional.empty();
    }
    try {
      JsonNode header = JSON.readTree(Base64.getUrlDecoder().decode(parts[0]));
      JsonNode claims = JSON.readTree(Base64.getUrlDecoder().decode(parts[1]));
      FcmAccount account = directory.account(claims.path("iss").asString(""));
      if (account == null
          || !header.path("alg").asString("").equals("RS256")
          || !header.path("kid").asString(account.privateKeyId()).equals(account.privateKeyId())
          || !claimsHold(claims)) {
        return Optional.empty();
      }
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initVerify(account.publicKey());
      signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      return signature.verify(Base64.getUrlDecoder().decode(parts[2]))
          ? Optional.of(account)
          : Optional.empty();
    } catch (IllegalArgumentException | JacksonException | GeneralSecurityException malformed) {
      return Optional.empty();
    }
  }

  private boolean claimsHold(JsonNode claims) {
    Instant now = clock.instant();
    Instant issued = Instant.ofEpochSecond(claims.path("iat").asLong(0));
    Instant ends = Instant.ofEpochSecond(claims.path("exp").asLong(0));
    boolean scoped =
        List.of(claims.path("scope").asString("").split(" ")).stream().anyMatch(SCOPES::contains);
    return scoped
        && claims.path("aud").asString("").endsWith("/token")
        && !issued.isAfter(now.plus(CLOCK_SKEW))
        && ends.isAfter(now)
        && !ends.isAfter(issued.plus(LONGEST_ASSERTION));
  }

  private static Reaction.Answer refusal(String error, String description) {
    return Reaction.Answer.json(
        400, "{\"error\":\"" + error + "\",\"error_description\":\"" + description + "\"}");
  }
}
