package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Which items become dead letters.
class HandlingIT extends IntakeScene {
  @Test
  void an_unreadable_message_is_kept_with_its_reason() throws Exception {
    QueueConsumer consumer =
        consumer(taking((body, again) -> WireForm.readBatch(body, Push.class)));
    servers.lanes().publishAndWait(QUEUE, List.of("{\"id\":7}".getBytes(StandardCharsets.UTF_8)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(1));
    consumer.stop();
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      GetResponse dead = channel.basicGet(Topology.DEAD, true);
      assertThat(dead.getBody()).asString(StandardCharsets.UTF_8).isEqualTo("[{\"id\":7}]");
      assertThat(dead.getProps().getHeaders().get(Topology.DEAD_QUEUE_HEADER)).hasToString(QUEUE);
      assertThat(dead.getProps().getHeaders().get(Topology.DEAD_REASON_HEADER).toString())
          .contains("batch of Push");
    }
  }

  @Test
  void each_dead_item_of_a_message_becomes_a_letter_of_its_own() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again, _) -> {
          List<DeadItem> dead = new ArrayList<>();
          consumed.addAll(WireForm.readBatch(body, String.class, dead::add));
          return dead;
        });
    lanes("\"a\"", "{}", "\"b\"", "[]");

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(2));
    consumer.stop();
    assertThat(consumed).containsExactly("a", "b");
    assertThat(dead()).containsExactly("[{}]", "[[]]");
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void a_poisonous_item_is_buried_without_its_neighbours() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            taking((body, again) -> {
              List<String> items = WireForm.readBatch(body, String.class);
              if (items.contains("bug")) {
                throw new IllegalStateException("a parcel", new NullPointerException("a bug"));
              }
              consumed.addAll(items);
            }));
    lanes("\"a\"", "\"bug\"", "\"b\"");

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(1));
    consumer.stop();
    assertThat(consumed).containsExactly("a", "b");
    assertThat(dead()).containsExactly("[\"bug\"]");
    assertThat(depth(QUEUE)).isZero();
  }

  /// Publishes items that share an AMQP message.
  private void lanes(String... items) throws Exception {
    byte[] batch =
        WireForm.join(Stream.of(items).map(item -> item.getBytes(StandardCharsets.UTF_8)).toList());
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_PERSISTENT_BASIC, batch);
    }
  }

  private List<String> dead() throws Exception {
    List<String> bodies = new ArrayList<>();
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      for (GetResponse dead = channel.basicGet(Topology.DEAD, true);
          dead != null;
          dead = channel.basicGet(Topology.DEAD, true)) {
        bodies.add(new String(dead.getBody(), StandardCharsets.UTF_8));
      }
    }
    return bodies;
  }
}
