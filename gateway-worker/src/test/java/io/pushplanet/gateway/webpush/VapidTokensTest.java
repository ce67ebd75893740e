package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.credential.Credential.VapidKey;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class VapidTokensTest {
  private static final String ORIGIN = "https://push.example.net";
  private final MutableClock clock = MutableClock.started();
  private final VapidTokens tokens =
      new VapidTokens(clock, new ProviderMetrics(new SimpleMeterRegistry(), Channel.WEBPUSH));
  private KeyPair pair;
  private VapidKey key;

  @BeforeEach
  void makeKey() throws Exception {
    pair = EllipticCurves.generateKeyPair(CurveType.NIST_P256);
    key = new VapidKey("mailto:ops@example.com", "PUBLIC", (ECPrivateKey) pair.getPrivate(), "one");
  }

  private static String[] parts(String authorization) {
    return authorization.replaceAll("vapid t=(.*), k=.*", "$1").split("\\.");
  }

  @Test
  void a_token_names_the_origin_and_a_person_and_is_signed() throws Exception {
    String authorization = tokens.authorization(key, ORIGIN);

    String[] parts = parts(authorization);
    JsonNode claims = JsonMapper.shared().readTree(Base64.getUrlDecoder().decode(parts[1]));
    Signature signature = Signature.getInstance("SHA256withECDSAinP1363Format");
    signature.initVerify(pair.getPublic());
    signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
    assertThat(signature.verify(Base64.getUrlDecoder().decode(parts[2]))).isTrue();
    assertThat(authorization).startsWith("vapid t=").endsWith(", k=PUBLIC");
    assertThat(claims.path("aud").asString()).isEqualTo(ORIGIN);
    assertThat(claims.path("sub").asString()).isEqualTo("mailto:ops@example.com");
    assertThat(claims.path("exp").asLong())
        .isEqualTo(clock.instant().plus(VapidTokens.LIFE).getEpochSecond());
  }

  @Test
  void it_serves_until_shortly_before_its_end_and_only_its_origin_and_key() {
    String first = tokens.authorization(key, ORIGIN);
    VapidKey other = new VapidKey(key.subject(), "OTHER", key.key(), "two");

    clock.advance(VapidTokens.LIFE.minus(VapidTokens.RENEWED_EARLY).minusSeconds(1));
    assertThat(tokens.authorization(key, ORIGIN)).isEqualTo(first);
    assertThat(tokens.authorization(key, "https://other.net")).isNotEqualTo(first);
    assertThat(tokens.authorization(other, ORIGIN)).isNotEqualTo(first);

    clock.advance(Duration.ofSeconds(1));
    assertThat(tokens.authorization(key, ORIGIN)).isNotEqualTo(first);
  }

  /// Push services refuse a token that ends in more than 24 hours.
  @Test
  void a_token_from_before_the_clock_was_set_back_serves_no_more() {
    String ahead = tokens.authorization(key, ORIGIN);

    clock.advance(Duration.ofHours(-13));

    assertThat(tokens.authorization(key, ORIGIN)).isNotEqualTo(ahead);
  }
}
