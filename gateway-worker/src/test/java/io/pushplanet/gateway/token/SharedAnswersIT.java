package io.pushplanet.gateway.token;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.quickstart.services.LocalServices;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SharedAnswersIT {
  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final MutableClock clock = MutableClock.started();
  private final PurgeBreaker one = new PurgeBreaker(clock, redis);
  private final PurgeBreaker other = new PurgeBreaker(clock, redis);
  private final AppId app = new AppId("purge-" + UUID.randomUUID());

  @AfterEach
  void close() {
    redis.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void two_workers_that_see_too_few_answers_each_decide_together() {
    for (int i = 0; i < PurgeBreaker.FEWEST_SENDS / 2 - 1; i++) {
      assertThat(one.count(app, Channel.APNS, true)).isFalse();
      assertThat(other.count(app, Channel.APNS, true)).isFalse();
    }
    one.count(app, Channel.APNS, true);

    assertThat(other.count(app, Channel.APNS, true)).isTrue();
    assertThat(one.count(app, Channel.APNS, true)).isTrue();
    assertThat(one.count(app, Channel.FCM, true)).isFalse();
  }

  @Test
  void its_keys_expire_by_themselves() {
    for (int i = 0; i < PurgeBreaker.FEWEST_SENDS; i++) {
      one.count(app, Channel.APNS, true);
    }

    String key = "purge:{" + app + "/apns}";
    assertThat(redis.connection().sync().pttl(key))
        .isPositive()
        .isLessThanOrEqualTo(PurgeBreaker.WINDOW.toMillis());
    assertThat(redis.connection().sync().pttl(key + ":open"))
        .isPositive()
        .isLessThanOrEqualTo(PurgeBreaker.OPEN.toMillis());
  }

  @Test
  void without_redis_each_counts_alone() {
    RedisClient nowhere = RedisClient.create("redis://127.0.0.1:1");
    try (RedisLink away = RedisLink.open(nowhere)) {
      PurgeBreaker alone = new PurgeBreaker(clock, away);

      for (int i = 0; i < PurgeBreaker.FEWEST_SENDS - 1; i++) {
        assertThat(alone.count(app, Channel.APNS, true)).isFalse();
      }

      assertThat(alone.count(app, Channel.APNS, true)).isTrue();
    } finally {
      nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }
  }
}
