package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.Signature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Google's token endpoint for service accounts
/// (https://developers.google.com/identity/protocols/oauth2/service-account#httprest).
///
/// Thread-safe.
final class OAuth {
  static final Duration ACCESS_TOKEN_LIFE = Duration.ofSeconds(3_600);

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
  private static final List<String> SCOPES =
      List.of(
          "https://www.googleapis.com/auth/firebase.messaging",
          "https://www.googleapis.com/auth/cloud-platform");
  private static final Duration LONGEST_ASSERTION = Duration.ofHours(1);
  private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

  private final FcmDirectory directory;
  private final Clock clock;

  OAuth(FcmDirectory directory, Clock clock) {
    this.directory = directory;
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
        .map(account ->
            Reaction.Answer.json(
                200,
                "{\"access_token\":\""
                    + accessToken(account.projectId())
                    + "\",\"expires_in\":"
                    + ACCESS_TOKEN_LIFE.toSeconds()
                    + ",\"token_type\":\"Bearer\"}"))
        .orElseGet(() -> refusal("invalid_grant", "Invalid JWT: signature, times, scope or aud"));
  }

  /// The project an access token is for, if it is good now.
  Optional<String> project(String accessToken) {
    String[] parts = accessToken.split("\\.");
    if (parts.length != 3 || !parts[0].equals("sim")) {
      return Optional.empty();
    }
    try {
      byte[] claims = Base64.getUrlDecoder().decode(parts[1]);
      if (!MessageDigest.isEqual(mac(claims), Base64.getUrlDecoder().decode(parts[2]))) {
        return Optional.empty();
      }
      String[] fields = new String(claims, StandardCharsets.UTF_8).split("\\|");
      Instant end = Instant.ofEpochSecond(Long.parseLong(fields[1]));
      return clock.instant().isBefore(end) ? Optional.of(fields[0]) : Optional.empty();
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private String accessToken(String project) {
    byte[] claims =
        (project + "|" + clock.instant().plus(ACCESS_TOKEN_LIFE).getEpochSecond())
            .getBytes(StandardCharsets.UTF_8);
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    return "sim." + base64.encodeToString(claims) + "." + base64.encodeToString(mac(claims));
  }

  private byte[] mac(byte[] claims) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(directory.accessSecret(), "HmacSHA256"));
      return mac.doFinal(claims);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no HmacSHA256", e);
    }
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
