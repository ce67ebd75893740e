package io.pushplanet.gateway.fanout;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.RealServers;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LaneDepthsIT {
  private static final String LANE = "push.apns.normal";
  private static final Duration SOON = Duration.ofSeconds(30);

  private final RealServers servers = RealServers.start();
  private final LaneDepths depths = new LaneDepths(servers.connections());
  private Connection connection;
  private Channel channel;

  @BeforeEach
  void fill_the_lane() throws Exception {
    connection = servers.connections().newConnection();
    channel = connection.createChannel();
    channel.confirmSelect();
    for (int i = 0; i <= LaneDepths.MAX_READY; i++) {
      channel.basicPublish(
          "", LANE, MessageProperties.MINIMAL_PERSISTENT_BASIC, new byte[] {'[', ']'});
    }
    channel.waitForConfirmsOrDie(SOON.toMillis());
  }

  @AfterEach
  void close() {
    depths.close();
    connection.abort();
    servers.close();
  }

  /// Qpid counts the messages in hand too, so that no lane with a busy worker would ever be empty.
  @Test
  void a_lane_is_full_with_too_many_messages_that_no_worker_has_in_hand() throws Exception {
    boolean rabbit = servers.services().isRabbitMq();
    Set<String> lanes = Set.of(LANE, "push.fcm.normal");

    assertThat(depths.fullOf(lanes)).isEqualTo(rabbit ? Set.of(LANE) : Set.of());

    channel.basicGet(LANE, false);
    Eventually.within(SOON, () -> assertThat(depths.fullOf(lanes)).isEmpty());
    assertThat(channel.messageCount(LANE)).isEqualTo(LaneDepths.MAX_READY + (rabbit ? 0 : 1));
  }

  @Test
  void no_lane_is_full_while_the_broker_is_away() {
    ConnectionFactory nobody = new ConnectionFactory();
    nobody.setHost("127.0.0.1");
    nobody.setPort(1);
    try (LaneDepths away = new LaneDepths(nobody)) {
      assertThat(away.fullOf(Set.of(LANE))).isEmpty();
    }
  }

  @Test
  void a_look_that_failed_is_no_obstacle_to_the_next_one() {
    assertThat(depths.fullOf(Set.of("push.unknown"))).isEmpty();

    assertThat(depths.fullOf(Set.of(LANE))).hasSize(servers.services().isRabbitMq() ? 1 : 0);
  }
}
