package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.quickstart.services.LocalServices;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Queues that another version of the broker made, as this version would not.
class TopologyIT {
  private static final List<String> QUEUES = List.of("push.early", "push.owed");

  private Connection broker;

  @BeforeEach
  void remove_queues() throws Exception {
    ConnectionFactory connections = new ConnectionFactory();
    connections.setUri(LocalServices.forTests().amqp());
    broker = connections.newConnection();
    assumeTrue(Topology.isRabbitMq(broker.getServerProperties()), "queues have no arguments there");
    delete();
  }

  @AfterEach
  void bring_them_back() throws Exception {
    delete();
    Topology.declare(broker);
    broker.close();
  }

  /// As a queue of RabbitMQ 3 is for RabbitMQ 4.
  @Test
  void a_queue_with_another_delivery_limit_is_used_as_it_is() throws Exception {
    declare(Map.of("x-queue-type", "quorum", "x-delivery-limit", 5));

    Topology.declare(broker);

    try (Channel channel = broker.createChannel()) {
      for (String queue : Topology.queues()) {
        assertThat(channel.queueDeclarePassive(queue).getQueue()).isEqualTo(queue);
      }
    }
  }

  @Test
  void a_queue_of_another_type_is_refused() throws Exception {
    declare(Map.of("x-queue-type", "classic"));

    assertThatThrownBy(() -> Topology.declare(broker))
        .isInstanceOf(IOException.class)
        .rootCause()
        .hasMessageContaining("x-queue-type");
  }

  private void declare(Map<String, Object> arguments) throws Exception {
    try (Channel channel = broker.createChannel()) {
      for (String queue : QUEUES) {
        channel.queueDeclare(queue, true, false, false, arguments);
      }
    }
  }

  private void delete() throws Exception {
    try (Channel channel = broker.createChannel()) {
      for (String queue : QUEUES) {
        channel.queueDelete(queue);
      }
    }
  }
}
