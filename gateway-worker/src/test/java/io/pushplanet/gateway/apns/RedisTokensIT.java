package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.http2.DelayedWay;
import io.pushplanet.quickstart.services.LocalServices;
import java.net.ServerSocket;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RedisTokensIT extends SharedTokensContract {
  private final URI redis = LocalServices.forTests().redis();
  private final SecureRandom random = new SecureRandom();
  private final CredentialVault vault =
      new CredentialVault(MasterKey.parse(MasterKey.generate(random)), random);
  private final List<Runnable> closing = new ArrayList<>();

  @AfterEach
  void close() {
    closing.forEach(Runnable::run);
  }

  private RedisTokens at(String address) {
    RedisClient client = RedisClient.create(address);
    RedisTokens tokens = new RedisTokens(client, vault);
    closing.add(tokens::close);
    closing.add(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
    return tokens;
  }

  @Override
  RedisTokens shared() {
    return at(redis.toString());
  }

  @Override
  RedisTokens away() {
    try (ServerSocket closed = new ServerSocket(0)) {
      return at("redis://127.0.0.1:" + closed.getLocalPort());
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void a_worker_that_connects_slowly_uses_the_others_token() throws Exception {
    ApnsKey key = key();
    ProviderToken token =
        ProviderToken.mint(key, Clock.systemUTC().instant().truncatedTo(ChronoUnit.SECONDS));
    RedisTokens others = shared();
    // Connecting, greeting and asking take a second each, and together more than an answer may.
    try (DelayedWay way = new DelayedWay(redis.getPort(), RedisTokens.DEADLINE.dividedBy(2))) {
      RedisTokens fresh = at("redis://127.0.0.1:" + way.port());
      assertThat(others.agree(key, token, null, Duration.ofMinutes(1))).contains(token);

      assertThat(fresh.current(key)).isEqualTo(new SharedTokens.Known.Agreed(token));
    }
  }
}
