package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Publish;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// PUBLISH to a device and its PUBACK, flow control, order and redelivery, statement by statement
/// (see [ConnectStatementsIT] for the names).
class PublishStatementsIT extends ConnectScene {
  PublishStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_2_2_1_2_a_qos_0_publish_has_no_packet_identifier(MqttVersion version) throws Exception {
    try (var client = subscribed(version, QoS.AT_MOST_ONCE, 0)) {
      send("{\"n\":1}");

      var publish = client.expect(Publish.class);

      // A packet identifier of two bytes would precede the payload.
      assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":1}"));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_3_1_1_at_qos_0_a_publish_has_qos_0_and_no_dup(MqttVersion version) throws Exception {
    try (var client = subscribed(version, QoS.AT_MOST_ONCE, 0)) {
      send("{}");

      var publish = client.expect(Publish.class);

      assertThat(publish.qos()).isEqualTo(QoS.AT_MOST_ONCE);
      assertThat(publish.duplicate()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_2_2_1_4_mqtt_4_3_2_1_each_new_publish_has_an_identifier_that_is_not_in_use(
      MqttVersion version) throws Exception {
    try (var client = at.subscribed(device, version)) {
      var open = new HashSet<Integer>();
      for (int count = 0; count < 8; count++) {
        send("{}");
        var publish = client.expect(Publish.class);
        assertThat(publish.packetId()).isPositive();
        assertThat(open.add(publish.packetId())).isTrue();
        // Every other message stays unacknowledged and keeps its identifier.
        if (count % 2 == 0) {
          SharedNode.acknowledge(client, publish);
          open.remove(publish.packetId());
        }
      }
      assertThat(open).hasSize(4);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_3_2_2_at_qos_1_a_new_publish_has_qos_1_and_no_dup(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      send("{}");

      var publish = client.expect(Publish.class);

      assertThat(publish.qos()).isEqualTo(QoS.AT_LEAST_ONCE);
      assertThat(publish.duplicate()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_1_3_dup_of_what_comes_in_says_nothing_of_what_goes_out(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      client.send(uplink(1, "{}", true)).expect(MqttPacket.PubAck.class);
      send("{}");

      assertThat(client.expect(Publish.class).duplicate()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_3_2_3_a_publish_is_unacknowledged_until_its_own_puback(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      var outcomes = sending("{\"n\":1}");
      var others = sending("{\"n\":2}");
      var publish = client.expect(Publish.class);
      var other = client.expect(Publish.class);
      // A PUBACK for no packet, then one for another packet.
      client.send(new MqttPacket.PubAck(packetIdAfter(other, 1), ReasonCode.SUCCESS));
      SharedNode.acknowledge(client, other);
      assertThat(TestGateway.next(others).result()).isEqualTo(Result.DELIVERED);
      assertThat(outcomes).isEmpty();

      SharedNode.acknowledge(client, publish);

      assertThat(TestGateway.next(outcomes).result()).isEqualTo(Result.DELIVERED);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_25_a_message_too_large_counts_as_sent_and_the_next_one_comes(MqttVersion version)
      throws Exception {
    var small =
        version == MqttVersion.V5
            ? MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 200)
            : MqttProperties.NONE;
    try (var client = at.connected(RawClient.connect(version, device, true, small))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      if (version == MqttVersion.V5) {
        assertThat(at.gateway().deliver(device, TestNode.newMessage(), "x".repeat(200)).result())
            .isEqualTo(Result.REFUSED);
      }
      send("{\"small\":1}");

      assertThat(client.expect(Publish.class).payload()).isEqualTo(Binary.of("{\"small\":1}"));
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "10"})
  void mqtt_3_1_2_26_mqtt_3_1_2_27_mqtt_3_3_2_11_no_topic_alias_is_sent_whatever_the_client_takes(
      int maximum) throws Exception {
    var aliases = MqttProperties.with(PropertyId.TOPIC_ALIAS_MAXIMUM, maximum);
    try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, aliases))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (int count = 0; count < 3; count++) {
        send("{}");
        var publish = client.expect(Publish.class);
        assertThat(publish.topic()).isEqualTo("push/messages");
        assertThat(publish.properties().has(PropertyId.TOPIC_ALIAS)).isFalse();
        SharedNode.acknowledge(client, publish);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"false, 0", "true, 0", "true, 1", "true, 2"})
  void mqtt_3_3_1_11_mqtt_3_3_1_12_mqtt_3_3_1_13_nothing_retained_is_sent_and_nothing_with_retain(
      boolean asPublished, int handling) throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(
          new MqttPacket.Subscribe(
              1,
              List.of(
                  new SubscriptionRequest(
                      "push/messages", QoS.AT_LEAST_ONCE, false, asPublished, handling)),
              MqttProperties.NONE));
      client.expect(MqttPacket.SubAck.class);
      send("{}");

      assertThat(client.expect(Publish.class).retain()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_2_3_the_topic_matches_the_subscription(MqttVersion version) throws Exception {
    try (var client = at.subscribed(device, version)) {
      send("{}");

      assertThat(client.expect(Publish.class).topic()).isEqualTo("push/messages");
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_2_5_a_message_whose_expiry_has_passed_is_not_delivered(MqttVersion version)
      throws Exception {
    at.node().park(device, "old", TestNode.newMessage(), "{\"old\":1}", Duration.ofSeconds(-1));
    at.node().park(device, "new", TestNode.newMessage(), "{\"new\":1}", Duration.ofHours(1));
    try (var client = at.subscribed(device, version)) {
      assertThat(client.expect(Publish.class).payload()).isEqualTo(Binary.of("{\"new\":1}"));
      SharedNode.silent(client);
    }
  }

  @Test
  void mqtt_3_3_2_6_the_expiry_that_is_left_is_told() throws Exception {
    at.node().park(device, "slot", TestNode.newMessage(), "{}", Duration.ofMinutes(10));
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      var left =
          client.expect(Publish.class).properties().number(PropertyId.MESSAGE_EXPIRY_INTERVAL, -1);

      assertThat(left).isBetween(1L, 600L);
    }
  }

  @Test
  void mqtt_3_3_4_3_mqtt_3_3_4_4_the_identifier_of_the_one_subscription_comes_with_the_message()
      throws Exception {
    try (var client = subscribed(MqttVersion.V5, QoS.AT_LEAST_ONCE, 42)) {
      send("{}");

      assertThat(
              client
                  .expect(Publish.class)
                  .properties()
                  .number(PropertyId.SUBSCRIPTION_IDENTIFIER, 0))
          .isEqualTo(42);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_4_9_no_more_than_the_receive_maximum_is_on_its_way(MqttVersion version)
      throws Exception {
    // A 3.1.1 client has no Receive Maximum: the server's own window of 16 applies.
    int most = version == MqttVersion.V5 ? 2 : 16;
    var wish =
        version == MqttVersion.V5
            ? MqttProperties.with(PropertyId.RECEIVE_MAXIMUM, most)
            : MqttProperties.NONE;
    try (var client = at.connected(RawClient.connect(version, device, true, wish))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (int count = 0; count < most + 2; count++) {
        send("{\"n\":" + count + "}");
      }
      var open = new ArrayList<Publish>();
      for (int count = 0; count < most; count++) {
        open.add(client.expect(Publish.class));
      }

      SharedNode.silent(client);
      SharedNode.acknowledge(client, open.getFirst());

      var next = client.expect(Publish.class);
      assertThat(next.payload()).isEqualTo(Binary.of("{\"n\":" + most + "}"));
      SharedNode.silent(client);
    }
  }

  /// Section 4.9: the quota begins at the Receive Maximum, each PUBLISH spends one of it, each
  /// PUBACK gives one back, whatever its reason, and it never exceeds the Receive Maximum.
  @Test
  void mqtt_4_9_0_1_mqtt_4_9_0_2_each_publish_spends_the_quota_and_only_its_puback_gives_it_back()
      throws Exception {
    var three = MqttProperties.with(PropertyId.RECEIVE_MAXIMUM, 3);
    try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, three))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (int count = 0; count < 12; count++) {
        send("{\"n\":" + count + "}");
      }
      var open = new ArrayList<>(publishes(client, 0, 3));
      SharedNode.silent(client);

      // A PUBACK for a packet that was never sent gives nothing back.
      for (int count = 0; count < 5; count++) {
        int unknown = packetIdAfter(open.getLast(), 1_000 + count);
        client.send(new MqttPacket.PubAck(unknown, ReasonCode.SUCCESS));
      }
      SharedNode.silent(client);
      // A failure does as well as a success.
      var refused = new MqttPacket.PubAck(open.removeFirst().packetId(), ReasonCode.QUOTA_EXCEEDED);
      client.send(refused);
      open.addAll(publishes(client, 3, 1));
      SharedNode.acknowledge(client, open.removeFirst());
      open.addAll(publishes(client, 4, 1));
      SharedNode.silent(client);

      for (var publish : open) {
        SharedNode.acknowledge(client, publish);
      }
      publishes(client, 5, 3);
      SharedNode.silent(client);
    }
  }

  private static int packetIdAfter(Publish publish, int distance) {
    return (publish.packetId() + distance - 1) % 0xFFFF + 1;
  }

  /// The next messages, by the numbers in their payloads.
  private static List<Publish> publishes(RawClient client, int first, int count) throws Exception {
    var came = new ArrayList<Publish>();
    for (int n = first; n < first + count; n++) {
      came.add(client.expect(Publish.class));
      assertThat(came.getLast().payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
    }
    return came;
  }

  @Test
  void mqtt_3_3_4_10_mqtt_4_9_0_3_with_a_spent_receive_maximum_all_but_publish_goes_on()
      throws Exception {
    var one = MqttProperties.with(PropertyId.RECEIVE_MAXIMUM, 1);
    try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, one))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      send("{}");
      send("{}");
      client.expect(Publish.class);

      client.send(uplink(3, "{}", false)).expect(MqttPacket.PubAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_4_2_mqtt_3_3_4_5_a_message_comes_once_however_often_its_topic_is_subscribed(
      MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(
          new MqttPacket.Subscribe(
              1,
              List.of(
                  new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE),
                  new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
              MqttProperties.NONE));
      client.expect(MqttPacket.SubAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      send("{}");

      client.expect(Publish.class);
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_1_1_mqtt_4_4_0_1_an_unacknowledged_message_comes_again_only_on_reconnect(
      MqttVersion version) throws Exception {
    var sent = new ArrayList<Publish>();
    try (var client = at.connected(SharedNode.persistent(device, version))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (int count = 0; count < 3; count++) {
        send("{\"n\":" + count + "}");
        sent.add(client.expect(Publish.class));
      }
      SharedNode.acknowledge(client, sent.get(1));
      SharedNode.silent(client);
      SharedNode.silent(client);
    }
    at.awaitGone(device);

    try (var client = at.connected(SharedNode.persistent(device, version))) {
      for (var old : List.of(sent.get(0), sent.get(2))) {
        var again = client.expect(Publish.class);
        assertThat(again.packetId()).isEqualTo(old.packetId());
        assertThat(again.payload()).isEqualTo(old.payload());
        assertThat(again.duplicate()).isTrue();
        SharedNode.acknowledge(client, again);
      }
      SharedNode.silent(client);
    }
  }

  @Test
  void mqtt_4_4_0_2_what_a_client_has_refused_is_not_sent_again() throws Exception {
    try (var client = at.connected(SharedNode.persistent(device, MqttVersion.V5))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      var outcome =
          at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      var publish = client.expect(Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.UNSPECIFIED_ERROR));
      assertThat(TestGateway.next(outcome))
          .returns(Result.REFUSED, Outcome::result)
          .returns(Refusal.BY_DEVICE.word(), Outcome::reason);
    }
    at.awaitGone(device);

    try (var client = at.connected(SharedNode.persistent(device, MqttVersion.V5))) {
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_6_0_5_mqtt_4_6_0_6_messages_of_a_topic_keep_their_order(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      for (int count = 0; count < 40; count++) {
        send("{\"n\":" + count + "}");
      }
      for (int count = 0; count < 40; count++) {
        var publish = client.expect(Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + count + "}"));
        SharedNode.acknowledge(client, publish);
      }
    }
  }

  private RawClient subscribed(MqttVersion version, QoS qos, int identifier) throws Exception {
    var client = at.connected(device, version);
    client.send(
        new MqttPacket.Subscribe(
            1,
            List.of(new SubscriptionRequest("push/messages", qos)),
            identifier == 0
                ? MqttProperties.NONE
                : MqttProperties.with(PropertyId.SUBSCRIPTION_IDENTIFIER, identifier)));
    client.expect(MqttPacket.SubAck.class);
    return client;
  }

  private void send(String payload) throws Exception {
    sending(payload);
  }

  private BlockingQueue<Outcome> sending(String payload) throws Exception {
    return at.gateway().send(List.of(device), TestNode.newMessage(), payload, SharedNode.PATIENCE);
  }
}
