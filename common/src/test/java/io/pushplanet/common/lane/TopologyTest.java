package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.rabbitmq.client.impl.LongStringHelper;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TopologyTest {
  @Test
  void every_channel_has_a_lane_for_each_priority() {
    assertThat(Topology.lanes())
        .hasSize(10)
        .startsWith("push.mqtt.high")
        .contains(
            Topology.lane(Channel.APNS, Priority.NORMAL),
            "push.fcm.high",
            "push.webpush.normal",
            "push.hms.high");
  }

  @Test
  void the_queues_are_the_lanes_and_seven_more() {
    assertThat(Topology.queues())
        .containsAll(Topology.lanes())
        .contains(Topology.fanout(Priority.HIGH), "push.fanout.high", "push.fanout.normal")
        .contains("push.accepted", "push.events", "push.early", "push.owed", "push.dead")
        .hasSize(17);
  }

  @Test
  void a_quorum_queue_never_drops_an_often_delivered_message() {
    assertThat(Topology.arguments(server("RabbitMQ", "4.1.3")))
        .containsOnly(entry("x-queue-type", "quorum"), entry("x-delivery-limit", -1));
    assertThat(Topology.arguments(server("RabbitMQ", "10.0.0")))
        .containsEntry("x-delivery-limit", -1);
    assertThat(Topology.arguments(server("RabbitMQ", "3.10.8")))
        .containsOnly(entry("x-queue-type", "quorum"));
    assertThat(Topology.arguments(server("qpid", "10.1.0"))).isEmpty();
    assertThat(Topology.arguments(Map.of())).isEmpty();
  }

  private static Map<String, Object> server(String product, String version) {
    return Map.of(
        "product", LongStringHelper.asLongString(product),
        "version", LongStringHelper.asLongString(version));
  }
}
