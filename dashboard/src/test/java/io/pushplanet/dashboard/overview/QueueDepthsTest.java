package io.pushplanet.dashboard.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.lane.Topology;
import io.pushplanet.dashboard.overview.QueueDepths.Queue;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueueDepthsTest {
  private final Queue lane = new Queue("push.mqtt.high", true, 12, 1);
  private final Queue events = new Queue("push.events", true, 0, 1);

  @Test
  void dead_letters_stand_before_the_queues_that_empty_themselves() {
    Queue dead = new Queue(Topology.DEAD, true, 1, 0);

    assertThat(new QueueDepths.Answer.Known(List.of(lane, events, dead)).queues())
        .containsExactly(dead, lane, events);
  }

  @Test
  void without_dead_letters_each_queue_keeps_its_place() {
    Queue empty = new Queue(Topology.DEAD, true, 0, 0);

    assertThat(new QueueDepths.Answer.Known(List.of(lane, events, empty)).queues())
        .containsExactly(lane, events, empty);
  }
}
