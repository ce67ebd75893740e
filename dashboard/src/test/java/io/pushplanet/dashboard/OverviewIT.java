package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.lettuce.core.RedisClient;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.dashboard.browser.Chromium;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OverviewIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void queues_nodes_and_numbers_refresh_by_themselves() throws Exception {
    try (Chromium chromium = Chromium.open(dashboard.address());
        Connection broker = dashboard.bean(ConnectionFactory.class).newConnection();
        Channel channel = broker.createChannel();
        var redis = dashboard.bean(RedisClient.class).connect()) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/");
      chromium.waitFor("#charts[data-drawn]");

      Topology.declare(channel);
      for (int i = 0; i < 4_321; i++) {
        channel.basicPublish(
            "", "push.events", MessageProperties.PERSISTENT_BASIC, new byte[] {'[', ']'});
      }
      new SessionDirectory(redis, Clock.systemUTC())
          .heartbeat(
              new NodeLease(
                  new NodeId("node-a"),
                  "127.0.0.1",
                  1884,
                  1883,
                  9083,
                  8_765,
                  false,
                  // Alive for longer than this test looks.
                  Instant.now().plusSeconds(300)));

      Eventually.within(
          Duration.ofSeconds(60),
          () ->
              assertThat(chromium.text())
                  .contains("4,321")
                  .contains("no consumer")
                  .contains("node-a")
                  .contains("8,765"));
      chromium.picture("overview-busy-light");
      channel.queuePurge("push.events");
      assertThat(chromium.complaints()).isEmpty();
    }
  }

  @Test
  void without_redis_and_the_broker_it_says_so_and_shows_the_rest() {
    RunningDashboard alone =
        RunningDashboard.start(
            dashboard.services(),
            Map.of(
                "pushplanet.redis.uri", "redis://127.0.0.1:1",
                "pushplanet.amqp.uri", "amqp://guest:guest@127.0.0.1:1/%2f"));
    try (Chromium chromium = Chromium.open(alone.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/");

      assertThat(chromium.text())
          .contains("RabbitMQ does not answer")
          .contains("Redis does not answer")
          .contains("unknown");
    } finally {
      alone.stop();
    }
  }
}
