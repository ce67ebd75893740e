package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// One message to many devices of a node.
class BroadcastIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration HOUR = Duration.ofHours(1);
  private static TestNode node;
  private static TestGateway gateway;

  @BeforeAll
  static void start() throws Exception {
    // Room for a handful of packets, so that every broadcast of these tests is paced.
    node = TestNode.start("--cm.delivery.broadcast-bytes=20KB", "--cm.transport.loops=2");
    gateway = new TestGateway(node, "gw-broadcast");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  @Test
  void everybody_gets_it_once_in_the_shape_that_was_agreed() throws Exception {
    var clients = new LinkedHashMap<DeviceKey, RawClient>();
    try {
      for (int number = 0; number < 40; number++) {
        var version = number % 2 == 0 ? MqttVersion.V3_1_1 : MqttVersion.V5;
        var qos = number % 4 < 2 ? QoS.AT_LEAST_ONCE : QoS.AT_MOST_ONCE;
        var device = TestNode.newDevice();
        clients.put(device, subscribed(device, version, qos, number % 3));
      }
      var devices = List.copyOf(clients.keySet());
      var message = TestNode.newMessage();

      var answers = gateway.broadcast(devices, 0, message, "{\"n\":1}", PATIENCE);

      for (var client : clients.values()) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":1}"));
        assertThat(publish.duplicate()).isFalse();
        if (publish.qos() == QoS.AT_LEAST_ONCE) {
          assertThat(publish.packetId()).isPositive();
          SharedNode.acknowledge(client, publish);
        }
        if (!publish.properties().userProperties().isEmpty()) {
          assertThat(publish.properties().userProperties().getFirst().value())
              .isEqualTo(message.value());
          assertThat(publish.properties().number(PropertyId.MESSAGE_EXPIRY_INTERVAL, 0))
              .isBetween(3_500L, 3_600L);
        }
      }
      assertThat(all(answers, devices.size()))
          .hasSize(devices.size())
          .allSatisfy((target, result) -> assertThat(result).isEqualTo(Result.DELIVERED));
      for (var client : clients.values()) {
        SharedNode.silent(client);
      }
    } finally {
      for (var client : clients.values()) {
        client.close();
      }
    }
  }

  @Test
  void a_device_that_is_away_or_taken_over_is_answered_as_not_here() throws Exception {
    var here = TestNode.newDevice();
    try (var client = subscribed(here, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0)) {
      var answers =
          gateway.broadcast(
              List.of(TestNode.newDevice(), here), 0, TestNode.newMessage(), "{}", PATIENCE);
      SharedNode.acknowledge(client, client.expect(MqttPacket.Publish.class));

      assertThat(all(answers, 2)).isEqualTo(Map.of(0, Result.NOT_HERE, 1, Result.DELIVERED));

      var newer =
          gateway.broadcast(List.of(here), Long.MAX_VALUE, TestNode.newMessage(), "{}", PATIENCE);
      assertThat(all(newer, 1)).isEqualTo(Map.of(0, Result.NOT_HERE));
    }
  }

  @Test
  void devices_that_read_nothing_hold_up_neither_their_neighbours_nor_others() throws Exception {
    var clients = new ArrayList<RawClient>();
    var devices = new ArrayList<DeviceKey>();
    try {
      // More than there is room for.
      for (int number = 0; number < 30; number++) {
        var silent = TestNode.newDevice();
        devices.add(silent);
        clients.add(subscribed(silent, MqttVersion.V3_1_1, QoS.AT_LEAST_ONCE, 0));
      }
      var other = TestNode.newDevice();
      var listening = subscribed(other, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0);
      clients.add(listening);
      var slow = gateway.broadcast(devices, 0, TestNode.newMessage(), "{}", Duration.ofSeconds(4));

      var alone = gateway.send(List.of(other), TestNode.newMessage(), "{\"alone\":1}", PATIENCE);
      var publish = listening.expect(MqttPacket.Publish.class);
      assertThat(publish.payload()).isEqualTo(Binary.of("{\"alone\":1}"));
      SharedNode.acknowledge(listening, publish);
      assertThat(alone.poll(60, TimeUnit.SECONDS)).isNotNull();
      // The other devices wait for room, and get it when the first ones' time is over.
      var next = gateway.broadcast(List.of(other), 0, TestNode.newMessage(), "{}", PATIENCE);
      SharedNode.acknowledge(listening, listening.expect(MqttPacket.Publish.class));

      assertThat(all(next, 1)).isEqualTo(Map.of(0, Result.DELIVERED));
      assertThat(all(slow, devices.size()).values()).containsOnly(Result.TIMEOUT);
    } finally {
      for (var client : clients) {
        client.close();
      }
    }
  }

  @Test
  void a_device_that_was_away_gets_its_messages_in_order_and_once_on_return() throws Exception {
    var device = TestNode.newDevice();
    var neighbour = TestNode.newDevice();
    var first = TestNode.newMessage();
    node.parkForAll(List.of(device, neighbour), first.value(), first, "{\"n\":1}", HOUR);
    node.park(device, "s", TestNode.newMessage(), "{\"n\":2}", HOUR);
    var foreign = TestNode.newMessage();
    node.parkForAll(
        List.of(neighbour, TestNode.newDevice()), foreign.value(), foreign, "{\"n\":0}", HOUR);
    // Parked twice, as by a worker that died before it had acknowledged.
    var third = TestNode.newMessage();
    node.parkForAll(List.of(device), third.value(), third, "{\"n\":3}", HOUR);
    long last = node.parkForAll(List.of(device), third.value(), third, "{\"n\":3}", HOUR);
    node.events();

    try (var client = subscribed(device, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0)) {
      for (int n = 1; n <= 3; n++) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        SharedNode.acknowledge(client, publish);
      }
      Eventually.within(PATIENCE, () -> assertThat(node.position(device)).isEqualTo(last));
      SharedNode.silent(client);
    }
    assertThat(ends(device))
        .hasSize(3)
        .allSatisfy(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED));
    try (var client = subscribed(device, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0)) {
      var later = TestNode.newMessage();
      node.parkForAll(List.of(device), later.value(), later, "{\"n\":4}", HOUR);
      gateway.drain(device);

      assertThat(client.expect(MqttPacket.Publish.class).payload())
          .isEqualTo(Binary.of("{\"n\":4}"));
    }
    assertThat(node.position(neighbour)).isZero();
  }

  @Test
  void an_unacknowledged_broadcast_comes_again_with_the_next_connection() throws Exception {
    var device = TestNode.newDevice();
    var message = TestNode.newMessage();
    var behind = TestNode.newMessage();
    node.parkForAll(List.of(device), message.value(), message, "{\"n\":1}", HOUR);
    long last = node.parkForAll(List.of(device), behind.value(), behind, "{\"n\":2}", HOUR);
    try (var client = subscribed(device, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0)) {
      client.expect(MqttPacket.Publish.class);
    }
    try (var client = subscribed(device, MqttVersion.V5, QoS.AT_LEAST_ONCE, 0)) {
      for (int n = 1; n <= 2; n++) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        assertThat(node.position(device)).isLessThan(last);
        SharedNode.acknowledge(client, publish);
      }
      Eventually.within(PATIENCE, () -> assertThat(node.position(device)).isEqualTo(last));
    }
  }

  @Test
  void tbmq_320_a_position_passes_nothing_unacknowledged_and_what_it_kept_comes_with_dup()
      throws Exception {
    var device = TestNode.newDevice();
    var lists = new ArrayList<Long>();
    for (int n = 1; n <= 3; n++) {
      var message = TestNode.newMessage();
      lists.add(
          node.parkForAll(List.of(device), message.value(), message, "{\"n\":" + n + "}", HOUR));
    }
    node.events();
    int kept;
    try (var client = persistent(device)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      kept = client.expect(MqttPacket.Publish.class).packetId();
      // The next message waits for this one's end.
      SharedNode.silent(client);
      assertThat(node.position(device)).isLessThan(lists.getFirst());
    }
    try (var client = persistent(device)) {
      var again = client.expect(MqttPacket.Publish.class);
      assertThat(again.payload()).isEqualTo(Binary.of("{\"n\":1}"));
      assertThat(again.packetId()).isEqualTo(kept);
      assertThat(again.duplicate()).isTrue();
      assertThat(node.position(device)).isLessThan(lists.getFirst());
      SharedNode.acknowledge(client, again);
      for (int n = 2; n <= 3; n++) {
        var next = client.expect(MqttPacket.Publish.class);
        assertThat(next.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        assertThat(next.duplicate()).isFalse();
        SharedNode.acknowledge(client, next);
      }

      Eventually.within(
          PATIENCE, () -> assertThat(node.position(device)).isEqualTo(lists.getLast()));
      SharedNode.silent(client);
    }
    assertThat(Set.copyOf(ends(device)))
        .as("one that is late is told twice, and the same, so that it counts once")
        .hasSize(3)
        .allSatisfy(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED));
  }

  private static RawClient persistent(DeviceKey device) throws Exception {
    var client = new RawClient(node.port("mqtt"), MqttVersion.V5);
    client.send(SharedNode.persistent(device, MqttVersion.V5));
    assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
    return client;
  }

  @Test
  void of_one_collapse_key_only_the_newest_comes_and_nothing_that_is_over() throws Exception {
    var device = TestNode.newDevice();
    var messages =
        Stream.generate(TestNode::newMessage).limit(5).sorted(Comparator.naturalOrder()).toList();
    node.park(device, "goal", messages.get(0), "{\"goal\":1}", HOUR);
    node.parkForAll(List.of(device), "goal", messages.get(1), "{\"goal\":2}", HOUR);
    node.parkForAll(List.of(device), "goal", messages.get(2), "{\"goal\":3}", HOUR);
    node.parkForAll(
        List.of(device), "brief", messages.get(3), "{\"brief\":1}", Duration.ofMillis(-1));
    long last = node.parkForAll(List.of(device), "no", messages.get(4), "{\"no\":1}", HOUR);
    node.cancelBroadcast(messages.get(4));
    node.events();

    try (var client = subscribed(device, MqttVersion.V3_1_1, QoS.AT_LEAST_ONCE, 0)) {
      var publish = client.expect(MqttPacket.Publish.class);
      assertThat(publish.payload()).isEqualTo(Binary.of("{\"goal\":3}"));
      SharedNode.acknowledge(client, publish);
      Eventually.within(PATIENCE, () -> assertThat(node.position(device)).isEqualTo(last));
      Eventually.within(PATIENCE, () -> assertThat(node.parked(device)).isZero());
      SharedNode.silent(client);
    }
    assertThat(ends(device))
        .extracting(
            DeliveryEvent.Ended::message,
            DeliveryEvent.Ended::state,
            ended -> ended.attempt().reason())
        .containsExactlyInAnyOrder(
            tuple(messages.get(0), DeliveryState.EXPIRED, "collapsed"),
            tuple(messages.get(1), DeliveryState.EXPIRED, "collapsed"),
            tuple(messages.get(2), DeliveryState.DELIVERED, null),
            tuple(messages.get(3), DeliveryState.EXPIRED, "ttl"),
            tuple(messages.get(4), DeliveryState.CANCELLED, "cancelled"));
  }

  private static List<DeliveryEvent.Ended> ends(DeviceKey device) throws Exception {
    return node.events().stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(DeliveryEvent.Ended.class::cast)
        .filter(ended -> ended.device().equals(device.device()))
        .toList();
  }

  /// By target.
  private static Map<Integer, Result> all(BlockingQueue<Outcome> answers, int count)
      throws InterruptedException {
    var results = new HashMap<Integer, Result>();
    for (int heard = 0; heard < count; heard++) {
      var outcome = answers.poll(60, TimeUnit.SECONDS);
      if (outcome == null) {
        throw new AssertionError("no outcome within 60 seconds; got " + results);
      }
      assertThat(results.put(outcome.target(), outcome.result())).isNull();
    }
    return results;
  }

  private static RawClient subscribed(
      DeviceKey device, MqttVersion version, QoS qos, int subscriptionIdentifier) throws Exception {
    var client = new RawClient(node.port("mqtt"), version);
    client.send(RawClient.connect(version, device)).expect(MqttPacket.ConnAck.class);
    client
        .send(
            new MqttPacket.Subscribe(
                1,
                List.of(new SubscriptionRequest("push/messages", qos)),
                version == MqttVersion.V5 && subscriptionIdentifier > 0
                    ? MqttProperties.with(
                        PropertyId.SUBSCRIPTION_IDENTIFIER, subscriptionIdentifier)
                    : MqttProperties.NONE))
        .expect(MqttPacket.SubAck.class);
    return client;
  }
}
