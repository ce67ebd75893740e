package io.pushplanet.dashboard.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Clock;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class NodesTest {
  private final CountDownLatch answered = new CountDownLatch(1);

  /// Redis is away, and then its host says nothing.
  private final class Silent extends RedisClient {
    private final AtomicBoolean tried = new AtomicBoolean();

    @Override
    public StatefulRedisConnection<String, String> connect() {
      if (tried.getAndSet(true)) {
        try {
          answered.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      throw new RedisConnectionException("Redis is away");
    }
  }

  @Test
  void no_request_waits_for_a_host_that_does_not_answer() throws Exception {
    try (var client = new Silent();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Nodes nodes = new Nodes(client, Clock.systemUTC());
      try {
        for (int page = 0; page < 3; page++) {
          assertThat(threads.submit(nodes::now).get(20, TimeUnit.SECONDS))
              .isEqualTo(new Nodes.Answer.Unknown());
        }
      } finally {
        answered.countDown();
        nodes.close();
      }
    }
  }
}
