package io.pushplanet.cm.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.WireForm;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OutcomeBatchesTest {
  private final List<NodeOutcomes> told = new ArrayList<>();
  private final HandLoop loop = new HandLoop();
  private final OutcomeBatches batches =
      new OutcomeBatches(
          new QuietClient(loop) {
            @Override
            public void send(MqttPacket packet) {
              byte[] payload = ((MqttPacket.Publish) packet).payload().bytes();
              told.add(WireForm.read(payload, NodeOutcomes.class));
            }
          },
          new DeliveryMetrics(new SimpleMeterRegistry()));

  @BeforeEach
  void subscribe() {
    batches.to("gw-1");
    batches.subscribe(NodeFrame.OUTCOMES_TOPIC + "gw-1");
  }

  @Test
  void delivered_targets_of_a_broadcast_gather_until_their_time_is_over() {
    batches.delivered("f1", 0);
    loop.turn();
    batches.delivered("f1", 1);
    batches.delivered("f2", 7);
    batches.delivered("f1", 2);
    loop.turn();
    assertThat(loop.timers()).isOne();
    loop.nowNanos += OutcomeBatches.GATHER.toNanos() - 1;
    loop.turn();
    assertThat(told).isEmpty();

    loop.nowNanos++;
    loop.turn();

    assertThat(told)
        .containsExactly(
            new NodeOutcomes("f1", List.of(), List.of(0, 2)),
            new NodeOutcomes("f2", List.of(), List.of(7, 7)));
    batches.delivered("f1", 3);
    gather();
    assertThat(told).hasSize(3);
  }

  @Test
  void any_other_outcome_leaves_in_the_next_turn_with_those_that_have_gathered() {
    batches.delivered("f1", 0);
    loop.turn();

    batches.answer("f2", new Outcome(4, Result.TIMEOUT, null));
    loop.turn();

    assertThat(told).extracting(NodeOutcomes::frame).containsExactly("f1", "f2");
    gather();
    assertThat(told).hasSize(2);
  }

  private void gather() {
    loop.turn();
    loop.nowNanos += OutcomeBatches.GATHER.toNanos();
    loop.turn();
  }
}
