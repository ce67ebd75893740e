package io.pushplanet.simulators.webpush;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Signature;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Checks the sender (RFC 8292).
final class Vapid {
  /// RFC 8292, section 3: `vapid t=…, k=…`, the parameters in any order.
  private static final Pattern SCHEME = Pattern.compile("(?i)vapid +(.+)");

  private static final Pattern TOKEN = Pattern.compile("(?:^|,) *t=([A-Za-z0-9_.-]+) *(?:,|$)");
  private static final Pattern KEY = Pattern.compile("(?:^|,) *k=([A-Za-z0-9_-]+) *(?:,|$)");

  /// RFC 8292, section 2: "an `exp` … MUST NOT be more than 24 hours from the time of the request".
  private static final Duration LONGEST_LIFE = Duration.ofHours(24);

  private static final JsonMapper JSON = JsonMapper.shared();

  private final Clock clock;

  Vapid(Clock clock) {
    this.clock = clock;
  }

  /// Whether a request may go to a subscription.
  sealed interface Verdict {
    record Good() implements Verdict {}

    record Bad(int status, String reason) implements Verdict {}
  }

  /// @param audience the origin of this push service
  Verdict judge(Optional<String> authorization, String audience, Subscription subscription) {
    if (authorization.isEmpty()) {
      return new Verdict.Bad(401, "no authorization");
    }
    Matcher scheme = SCHEME.matcher(authorization.get());
    if (!scheme.matches()) {
      return new Verdict.Bad(401, "not the vapid scheme");
    }
    Matcher token = TOKEN.matcher(scheme.group(1));
    Matcher key = KEY.matcher(scheme.group(1));
    if (!token.find() || !key.find()) {
      return new Verdict.Bad(401, "t or k is missing");
    }
    String objection = objection(token.group(1), key.group(1), audience);
    if (!objection.isEmpty()) {
      return new Verdict.Bad(401, objection);
    }
    String wanted = subscription.applicationServerKey();
    return wanted.isEmpty() || wanted.equals(key.group(1))
        ? new Verdict.Good()
        : new Verdict.Bad(403, "not the key of this subscription");
  }

  /// The fault of a token; empty for a good token.
  private String objection(String jwt, String key, String audience) {
    String[] parts = jwt.split("\\.", -1);
    if (parts.length != 3) {
      return "not a JWT";
    }
    try {
      Base64.Decoder base64 = Base64.getUrlDecoder();
      JsonNode header = JSON.readTree(base64.decode(parts[0]));
      JsonNode claims = JSON.readTree(base64.decode(parts[1]));
      if (!header.path("alg").asString("").equals("ES256")) {
        return "not ES256";
      }
      Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
      signature.initVerify(P256.decode(base64.decode(key)));
      signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
      if (!signature.verify(base64.decode(parts[2]))) {
        return "not signed by k";
      }
      return objection(claims, audience);
    } catch (IllegalArgumentException | JacksonException | GeneralSecurityException e) {
      return "malformed token: " + e.getMessage();
    }
  }

  private String objection(JsonNode claims, String audience) {
    if (!claims.path("aud").asString("").equals(audience)) {
      return "aud is not " + audience;
    }
    if (!claims.path("exp").isIntegralNumber()) {
      return "exp is missing";
    }
    Instant now = clock.instant();
    Instant expiresAt = Instant.ofEpochSecond(claims.path("exp").asLong());
    if (!expiresAt.isAfter(now)) {
      return "expired";
    }
    if (expiresAt.isAfter(now.plus(LONGEST_LIFE))) {
      return "exp is more than 24 hours away";
    }
    String subject = claims.path("sub").asString("");
    return subject.startsWith("mailto:") || subject.startsWith("https:")
        ? ""
        : "sub is neither mailto: nor https:";
  }
}
