package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.order.Tickets;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// Messages of one lane leave for a device's node in the lane's order.
class OrderIT extends NodeScene {
  private final Tickets tickets = new Tickets();

  @Test
  void batches_leave_in_the_order_of_their_lane() throws Exception {
    connect("d1");
    node.answer("d1", Result.DELIVERED);
    List<Push> pushes = IntStream.range(0, 40).mapToObj(_ -> toDevice("d1")).toList();
    List<Ticket> taken = pushes.stream().map(_ -> tickets.take()).toList();

    List<Future<?>> batches = new ArrayList<>();
    for (int last = pushes.size() - 1; last >= 0; last--) {
      batches.add(delivering(Channel.MQTT, false, taken.get(last), pushes.get(last)));
    }
    await(batches);

    assertThat(node.messages()).containsExactlyElementsOf(ids(pushes));
    assertThat(overtaking()).isZero();
  }

  @Test
  void a_broadcast_keeps_its_place_among_the_messages_of_its_batch() throws Exception {
    String[] devices =
        IntStream.range(0, NodeDelivery.MANY).mapToObj(i -> "d" + i).toArray(String[]::new);
    var toAll = aPush(clock).from(APP);
    for (String device : devices) {
      connect(device);
      node.answer(device, Result.DELIVERED);
      toAll.toMqtt(device);
    }
    List<Push> pushes = List.of(toDevice("d1"), toAll.build(), toDevice("d1"));

    await(List.of(delivering(Channel.MQTT, false, tickets.take(), pushes.toArray(Push[]::new))));

    assertThat(node.messages()).containsExactlyElementsOf(ids(pushes));
  }

  /// Each deadline has frames of its own.
  @Test
  void messages_to_a_device_keep_their_order_whatever_their_deadlines() throws Exception {
    for (String device : List.of("d1", "d2")) {
      connect(device);
      node.answer(device, Result.DELIVERED);
    }
    List<Push> pushes =
        List.of(
            fallingBack("d1", 5),
            fallingBack("d1", 1),
            fallingBack("d1", 5),
            fallingBack("d2", 5),
            fallingBack("d2", 1),
            fallingBack("d1", 1));

    await(List.of(delivering(Channel.MQTT, false, tickets.take(), pushes.toArray(Push[]::new))));

    assertThat(node.messages()).containsExactlyElementsOf(ids(pushes));
  }

  @Test
  void a_batch_that_hangs_is_waited_for_once() throws Exception {
    connect("d1");
    node.answer("d1", Result.DELIVERED);
    tickets.take();
    List<Push> pushes = List.of(toDevice("d1"), toDevice("d1"));

    for (Push push : pushes) {
      await(List.of(delivering(Channel.MQTT, false, tickets.take(), push)));
    }

    assertThat(node.messages()).containsExactlyElementsOf(ids(pushes));
    assertThat(overtaking()).isEqualTo(1);
  }

  @Test
  void a_repeat_that_hangs_at_mysql_holds_up_no_other_batch() throws Exception {
    connect("d1");
    node.answer("d1", Result.DELIVERED);
    Push again = toDevice("d1");
    Push fresh = toDevice("d1");
    try (Connection other = servers.database().getConnection();
        Statement sql = other.createStatement()) {
      sql.execute("LOCK TABLES deliveries WRITE");
      try {
        Future<?> hangs = delivering(Channel.MQTT, true, tickets.take(), again);
        await(List.of(delivering(Channel.MQTT, false, tickets.take(), fresh)));

        assertThat(hangs.isDone()).isFalse();
        assertThat(node.messages()).containsExactly(fresh.id());
        sql.execute("UNLOCK TABLES");
        await(List.of(hangs));
      } finally {
        sql.execute("UNLOCK TABLES");
      }
    }
    assertThat(node.messages()).containsExactly(fresh.id(), again.id());
    assertThat(overtaking()).isZero();
  }

  private Push fallingBack(String device, int afterSeconds) {
    return aPush(clock)
        .from(APP)
        .delivered(
            new DeliveryOptions(
                Route.AUTO,
                Duration.ofHours(1),
                Urgency.HIGH,
                null,
                Duration.ofSeconds(afterSeconds)))
        .build()
        .to(
            List.of(
                recipient(
                    new DeviceId(device),
                    true,
                    new FcmToken("t-" + device, "token", clock.instant()))));
  }

  private Push toDevice(String device) {
    return aPush(clock).from(APP).toMqtt(device).build();
  }

  private static List<MessageId> ids(List<Push> pushes) {
    return pushes.stream().map(Push::id).toList();
  }

  private double overtaking() {
    return meters.get("pushplanet.delivery.overtaking").counter().count();
  }

  private static void await(List<Future<?>> batches) throws Exception {
    for (Future<?> batch : batches) {
      batch.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
  }
}
