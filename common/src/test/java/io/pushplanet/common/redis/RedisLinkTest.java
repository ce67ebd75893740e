package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.SessionNotices;
import io.pushplanet.common.testing.LogLines;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Both keep trying until Redis answers, no matter how a try fails.
class RedisLinkTest {
  private final CountDownLatch tries = new CountDownLatch(3);

  /// Redis is away first, then a class is missing.
  private final class Failing extends RedisClient {
    @Override
    public StatefulRedisConnection<String, String> connect() {
      throw failure();
    }

    @Override
    public StatefulRedisPubSubConnection<String, String> connectPubSub() {
      throw failure();
    }

    private RedisConnectionException failure() {
      tries.countDown();
      if (tries.getCount() == 1) {
        throw new NoClassDefFoundError("io/lettuce/core/Gone");
      }
      return new RedisConnectionException("Redis is away");
    }
  }

  @Test
  void a_link_tries_again_after_an_error() throws Exception {
    try (RedisClient client = new Failing();
        RedisLink link = RedisLink.open(client)) {
      assertThat(tries.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(link.connected()).isFalse();
    }
  }

  @Test
  void only_the_first_of_several_failed_tries_is_logged() throws Exception {
    try (LogLines lines = new LogLines("io.pushplanet.common.redis");
        RedisClient client = new Failing();
        RedisLink link = RedisLink.open(client)) {
      assertThat(tries.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(link.connected()).isFalse();

      assertThat(lines.said())
          .singleElement()
          .asString()
          .startsWith("event=redis_connect_failed attempts=1 seconds=0");
    }
  }

  @Test
  void a_listener_for_notices_tries_again_after_an_error() throws Exception {
    try (RedisClient client = new Failing();
        SessionNotices _ = SessionNotices.listen(client, new NodeId("cm-1"), _ -> {}, () -> {})) {
      assertThat(tries.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }
}
