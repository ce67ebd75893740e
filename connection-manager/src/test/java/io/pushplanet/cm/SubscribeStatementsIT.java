package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Publish;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// SUBSCRIBE, SUBACK, UNSUBSCRIBE and UNSUBACK, statement by statement (see [ConnectStatementsIT]
/// for the names).
@ExtendWith(SharedNode.Resolver.class)
class SubscribeStatementsIT {
  private static final String OWN = "push/messages";

  private final SharedNode at;
  private final DeviceKey device = TestNode.newDevice();

  SubscribeStatementsIT(SharedNode at) {
    this.at = at;
  }

  @ParameterizedTest
  @CsvSource({"V5, 0x87", "V3_1_1, 0x80"})
  void mqtt_1_5_4_3_a_byte_order_mark_belongs_to_the_filter(MqttVersion version, String code)
      throws Exception {
    try (var client = at.connected(device, version)) {
      assertThat(subscribe(client, 1, "\uFEFF" + OWN)).containsExactly(Integer.decode(code));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_2_2_1_6_suback_and_unsuback_have_the_identifier_of_what_they_answer(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(request(300, OWN));
      client.send(new MqttPacket.Unsubscribe(301, List.of(OWN), MqttProperties.NONE));

      assertThat(client.expect(MqttPacket.SubAck.class).packetId()).isEqualTo(300);
      assertThat(client.expect(MqttPacket.UnsubAck.class).packetId()).isEqualTo(301);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_8_4_1_mqtt_3_8_4_2_each_subscribe_has_its_suback_with_its_identifier(
      MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      for (int id : List.of(1, 300, 0xFFFF)) {
        // Also when the filter is refused.
        client.send(request(id, id == 300 ? "other" : OWN));

        assertThat(client.expect(MqttPacket.SubAck.class).packetId()).isEqualTo(id);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_4_each_unsubscribe_has_its_unsuback_with_its_identifier(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      for (int id : List.of(1, 300, 0xFFFF)) {
        client.send(new MqttPacket.Unsubscribe(id, List.of(OWN), MqttProperties.NONE));

        assertThat(client.expect(MqttPacket.UnsubAck.class).packetId()).isEqualTo(id);
      }
    }
  }

  @Test
  void mqtt_3_9_2_1_mqtt_3_9_2_2_a_suback_says_why_it_refuses_where_there_is_room()
      throws Exception {
    var tight = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 80);
    var connect = RawClient.connect(MqttVersion.V5, TestNode.newDevice(), true, tight);
    try (var client = at.connected(device, MqttVersion.V5);
        var small = at.connected(connect)) {
      var granted = client.send(request(1, OWN)).expect(MqttPacket.SubAck.class);
      var refused = client.send(request(2, OWN, "other", "#")).expect(MqttPacket.SubAck.class);
      var brief = small.send(request(1, "other")).expect(MqttPacket.SubAck.class);

      assertThat(granted.properties().isEmpty()).isTrue();
      assertThat(refused.properties().text(PropertyId.REASON_STRING))
          .hasValue("subscribe to push/messages, neither shared nor with wildcards");
      assertThat(refused.properties().userProperties()).isEmpty();
      assertThat(brief.properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_3_11_2_1_mqtt_3_11_2_2_unsuback_has_neither_reason_string_nor_user_property()
      throws Exception {
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      client.send(new MqttPacket.Unsubscribe(2, List.of(OWN, "other"), MqttProperties.NONE));

      assertThat(client.expect(MqttPacket.UnsubAck.class).properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_2_2_2_1_no_properties_are_told_by_a_length_of_0() throws Exception {
    // RawClient's decoder reads that length: without it the code would be read as the length and no
    // byte would be left.
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(request(1, OWN));

      var granted = client.expect(MqttPacket.SubAck.class);

      assertThat(granted.codes()).containsExactly(1);
      assertThat(granted.properties()).isEqualTo(MqttProperties.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_2_2_10_mqtt_3_8_4_7_a_subscription_of_any_qos_is_taken_and_told_its_granted_qos(
      MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      for (var qos : QoS.values()) {
        client.send(
            new MqttPacket.Subscribe(
                1, List.of(new SubscriptionRequest(OWN, qos)), MqttProperties.NONE));

        assertThat(client.expect(MqttPacket.SubAck.class).codes())
            .containsExactly(Math.min(1, qos.ordinal()));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_8_4_3_the_same_filter_again_replaces_the_subscription(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      client.send(
          new MqttPacket.Subscribe(
              2, List.of(new SubscriptionRequest(OWN, QoS.AT_MOST_ONCE)), MqttProperties.NONE));
      assertThat(client.expect(MqttPacket.SubAck.class).codes()).containsExactly(0);
      send("{}");

      // One copy, with the newer subscription's QoS.
      assertThat(client.expect(Publish.class).qos()).isEqualTo(QoS.AT_MOST_ONCE);
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_8_4_4_no_message_is_lost_by_replacing_a_subscription(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      // One more than fits into a window, so that the last one waits in the node while its
      // subscription is replaced.
      var outcomes =
          IntStream.range(0, 17).mapToObj(number -> sending("{\"n\":" + number + "}")).toList();
      var onTheirWay = new ArrayList<Publish>();
      for (int number = 0; number < 16; number++) {
        onTheirWay.add(client.expect(Publish.class));
      }
      client.send(request(2, OWN)).expect(MqttPacket.SubAck.class);
      for (var publish : onTheirWay) {
        SharedNode.acknowledge(client, publish);
      }
      SharedNode.acknowledge(client, client.expect(Publish.class));

      for (var outcome : outcomes) {
        assertThat(TestGateway.next(outcome).result()).isEqualTo(Result.DELIVERED);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"V5, 1 0x87 0xA2 0x9E 1", "V3_1_1, 1 0x80 0x80 0x80 1"})
  void mqtt_3_8_4_5_mqtt_3_8_4_6_mqtt_3_9_3_1_each_filter_has_its_code_in_one_suback(
      MqttVersion version, String codes) throws Exception {
    try (var client = at.connected(device, version)) {
      var answer = subscribe(client, 1, OWN, "other", "#", "$share/g/" + OWN, OWN);

      assertThat(answer).isEqualTo(Stream.of(codes.split(" ")).map(Integer::decode).toList());
    }
  }

  /// Table 3-8 of 5.0; section 3.9.3 of 3.1.1.
  @ParameterizedTest
  @CsvSource({"V5, 0 1 2 0x80 0x83 0x87 0x8F 0x91 0x97 0x9E 0xA1 0xA2", "V3_1_1, 0 1 2 0x80"})
  void mqtt_3_9_3_2_the_codes_of_suback_are_its_own(MqttVersion version, String codes)
      throws Exception {
    try (var client = at.connected(device, version)) {
      assertThat(subscribe(client, 1, OWN, "other", "#", "push/+", "$share/g/" + OWN, "$SYS/x"))
          .hasSize(6)
          .isSubsetOf(Stream.of(codes.split(" ")).map(Integer::decode).toList());
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_8_4_8_a_message_comes_with_at_most_the_qos_that_was_granted(MqttVersion version)
      throws Exception {
    for (var qos : QoS.values()) {
      try (var client = at.connected(device, version)) {
        client.send(
            new MqttPacket.Subscribe(
                1, List.of(new SubscriptionRequest(OWN, qos)), MqttProperties.NONE));
        client.expect(MqttPacket.SubAck.class);
        send("{}");

        assertThat(client.expect(Publish.class).qos()).isEqualTo(qos.atMost(QoS.AT_LEAST_ONCE));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_1_a_filter_is_compared_character_by_character(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      client.send(
          new MqttPacket.Unsubscribe(
              2, List.of("push/Messages", "push/+", "#", OWN + "/"), MqttProperties.NONE));
      client.expect(MqttPacket.UnsubAck.class);
      send("{}");

      client.expect(Publish.class);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_2_after_unsubscribe_no_new_message_comes(MqttVersion version) throws Exception {
    try (var client = at.subscribed(device, version)) {
      client.send(new MqttPacket.Unsubscribe(2, List.of(OWN), MqttProperties.NONE));
      client.expect(MqttPacket.UnsubAck.class);

      var outcome = at.gateway().deliver(device, TestNode.newMessage(), "{}");
      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
      assertThat(outcome.reason()).isEqualTo("not_subscribed");
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_3_what_was_on_its_way_is_completed_after_unsubscribe(MqttVersion version)
      throws Exception {
    try (var client = at.subscribed(device, version)) {
      var outcome =
          at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      var publish = client.expect(Publish.class);
      client.send(new MqttPacket.Unsubscribe(2, List.of(OWN), MqttProperties.NONE));
      client.expect(MqttPacket.UnsubAck.class);
      SharedNode.acknowledge(client, publish);

      assertThat(TestGateway.next(outcome).result()).isEqualTo(Result.DELIVERED);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_5_unsuback_comes_also_when_nothing_matched(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(new MqttPacket.Unsubscribe(77, List.of("never"), MqttProperties.NONE));

      assertThat(client.expect(MqttPacket.UnsubAck.class).packetId()).isEqualTo(77);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_10_4_6_mqtt_3_11_3_1_several_filters_are_answered_in_one_unsuback_in_order(
      MqttVersion version) throws Exception {
    try (var client = at.subscribed(device, version)) {
      client.send(new MqttPacket.Unsubscribe(5, List.of("never", OWN, OWN), MqttProperties.NONE));

      // As if they had come one after the other. A 3.1.1 UNSUBACK has no codes.
      assertThat(client.expect(MqttPacket.UnsubAck.class).codes())
          .isEqualTo(version == MqttVersion.V5 ? List.of(0x11, 0x00, 0x11) : List.of());
      SharedNode.silent(client);
      assertThat(at.gateway().deliver(device, TestNode.newMessage(), "{}").reason())
          .isEqualTo("not_subscribed");
    }
  }

  /// Table 3-9: for filters like these, only "success" and "no subscription existed" are possible.
  @Test
  void mqtt_3_11_3_2_the_codes_of_unsuback_are_its_own() throws Exception {
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      client.send(
          new MqttPacket.Unsubscribe(
              5, List.of("other", "#", "$share/g/" + OWN, OWN), MqttProperties.NONE));

      assertThat(client.expect(MqttPacket.UnsubAck.class).codes())
          .containsExactly(0x11, 0x11, 0x11, 0x00);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void
      mqtt_4_7_1_1_mqtt_4_7_1_2_mqtt311_3_8_3_2_filters_with_wildcards_are_refused_wherever_they_stand(
          MqttVersion version) throws Exception {
    int code = version == MqttVersion.V5 ? 0xA2 : 0x80;
    try (var client = at.connected(device, version)) {
      assertThat(subscribe(client, 1, "#", "push/#", "push#", "#/push", "+", "push/+", "pu+h"))
          .hasSize(7)
          .containsOnly(code);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_7_2_1_no_filter_that_begins_with_a_wildcard_is_held_to_match_a_dollar_topic(
      MqttVersion version) throws Exception {
    int code = version == MqttVersion.V5 ? 0xA2 : 0x80;
    try (var client = at.connected(device, version)) {
      assertThat(subscribe(client, 1, "#", "+/monitor/Clients", "$SYS/#"))
          .hasSize(3)
          .containsOnly(code);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_7_3_4_filters_are_not_normalized(MqttVersion version) throws Exception {
    int code = version == MqttVersion.V5 ? 0x87 : 0x80;
    try (var client = at.connected(device, version)) {
      assertThat(
              subscribe(
                  client,
                  1,
                  "Push/messages",
                  "push//messages",
                  "/push/messages",
                  OWN + "/",
                  " " + OWN,
                  "push/message\u017F"))
          .hasSize(6)
          .containsOnly(code);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_8_2_1_mqtt_4_8_2_2_shared_subscriptions_are_refused_whatever_their_name(
      MqttVersion version) throws Exception {
    // In 3.1.1 it is a foreign topic. An invalid share name is no better.
    int code = version == MqttVersion.V5 ? 0x9E : 0x80;
    try (var client = at.connected(device, version)) {
      assertThat(
              subscribe(
                  client, 1, "$share/g/" + OWN, "$share//" + OWN, "$share/g/#", "$share/+/" + OWN))
          .hasSize(4)
          .containsOnly(code);
    }
  }

  private static List<Integer> subscribe(RawClient client, int id, String... filters)
      throws Exception {
    return client.send(request(id, filters)).expect(MqttPacket.SubAck.class).codes();
  }

  private static MqttPacket request(int id, String... filters) {
    return new MqttPacket.Subscribe(
        id,
        Stream.of(filters)
            .map(filter -> new SubscriptionRequest(filter, QoS.AT_LEAST_ONCE))
            .toList(),
        MqttProperties.NONE);
  }

  private void send(String payload) {
    sending(payload);
  }

  private BlockingQueue<Outcome> sending(String payload) {
    try {
      return at.gateway()
          .send(List.of(device), TestNode.newMessage(), payload, SharedNode.PATIENCE);
    } catch (Exception notSent) {
      throw new AssertionError(notSent);
    }
  }
}
