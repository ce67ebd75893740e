package io.pushplanet.simulators.server;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// OAuth access tokens with their owner and their end, signed so that only this server can make
/// them. Thread-safe.
public final class AccessTokens {
  /// Google's and Huawei's live an hour.
  public static final Duration LIFE = Duration.ofSeconds(3_600);

  private final byte[] secret;
  private final Clock clock;

  /// The content of a token.
  public record Claim(String subject, boolean expired) {}

  public AccessTokens(byte[] secret, Clock clock) {
    this.secret = secret.clone();
    this.clock = clock;
  }

  private String issue(String subject) {
    byte[] claims =
        (subject + "|" + clock.instant().plus(LIFE).getEpochSecond())
            .getBytes(StandardCharsets.UTF_8);
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    return "sim." + base64.encodeToString(claims) + "." + base64.encodeToString(mac(claims));
  }

  /// A new token in the form of an OAuth server's answer (RFC 6749, 5.1).
  public Reaction.Answer granted(String subject) {
    return Reaction.Answer.json(
        200,
        "{\"access_token\":\"%s\",\"expires_in\":%d,\"token_type\":\"Bearer\"}"
            .formatted(issue(subject), LIFE.toSeconds()));
  }

  /// Empty for a foreign token.
  public Optional<Claim> read(String accessToken) {
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
      return Optional.of(new Claim(fields[0], !clock.instant().isBefore(end)));
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private byte[] mac(byte[] claims) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return mac.doFinal(claims);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no HmacSHA256", e);
    }
  }
}
