package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.http2.DelayedWay;
import io.pushplanet.quickstart.services.LocalServices;
import java.net.URI;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class RedisTokensIT {
  private final SecureRandom random = new SecureRandom();
  private final CredentialVault vault =
      new CredentialVault(MasterKey.parse(MasterKey.generate(random)), random);

  @Test
  void a_worker_that_connects_slowly_uses_the_others_token() throws Exception {
    ApnsKey key = new ApnsKey("TEAM000007", "KEY0000007", "com.example", secret(), "f");
    Instant now = Clock.systemUTC().instant().truncatedTo(ChronoUnit.SECONDS);
    ProviderToken token = ProviderToken.mint(key, now);
    URI redis = LocalServices.forTests().redis();
    // Connecting, greeting and asking take a second each, and together more than an answer may.
    RedisClient near = RedisClient.create(redis.toString());
    try (DelayedWay way = new DelayedWay(redis.getPort(), RedisTokens.DEADLINE.dividedBy(2));
        RedisTokens others = new RedisTokens(near, vault)) {
      RedisClient far = RedisClient.create("redis://127.0.0.1:" + way.port());
      try (RedisTokens fresh = new RedisTokens(far, vault)) {
        assertThat(others.agree(key, token, null, Duration.ofMinutes(1)))
            .contains(token);

        assertThat(fresh.current(key)).isEqualTo(new SharedTokens.Known.Agreed(token));
      } finally {
        far.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    } finally {
      near.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }

  private static ECPrivateKey secret() throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(256);
    return (ECPrivateKey) keys.generateKeyPair().getPrivate();
  }
}
