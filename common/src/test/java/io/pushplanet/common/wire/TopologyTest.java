package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import org.junit.jupiter.api.Test;

class TopologyTest {
  @Test
  void every_channel_has_a_lane_for_each_priority() {
    assertThat(Topology.lanes())
        .hasSize(8)
        .startsWith("push.mqtt.high")
        .contains(
            Topology.lane(Channel.APNS, Priority.NORMAL), "push.fcm.high", "push.webpush.normal");
  }

  @Test
  void the_queues_are_the_lanes_and_three_more() {
    assertThat(Topology.queues())
        .containsAll(Topology.lanes())
        .contains("push.fanout", "push.events", "push.dead")
        .hasSize(11);
  }
}
