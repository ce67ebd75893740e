package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttPacket.Publish;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Statements about features that this server does not offer: what asks for the feature is refused,
/// and nothing of the feature happens (see [ConnectStatementsIT] for the names).
class RefusedStatementsIT extends ConnectScene {
  private static final String NONE = "-";

  /// The topic `push/uplink` with its length.
  private static final String TOPIC = "00 0B 70 75 73 68 2F 75 70 6C 69 6E 6B";

  RefusedStatementsIT(SharedNode at) {
    super(at);
  }

  /// MQTT-3.1.3-6 and -7: a server MAY assign a client id, and this one does not.
  @ParameterizedTest
  @CsvSource({"V5, true, 133", "V5, false, 133", "V3_1_1, true, 2", "V3_1_1, false, 2"})
  void mqtt_3_1_3_6_mqtt_3_1_3_7_mqtt_3_2_2_16_no_client_id_is_assigned(
      MqttVersion version, boolean clean, int code) throws Exception {
    var usual = RawClient.connect(version, device);
    try (var client = at.raw(version)) {
      client.send(
          new Connect(
              version,
              clean,
              60,
              "",
              usual.userName(),
              usual.password(),
              null,
              usual.properties()));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(code);
      assertThat(refused.properties().has(PropertyId.ASSIGNED_CLIENT_IDENTIFIER)).isFalse();
      assertThat(client.next()).isEmpty();
    }
  }

  @ParameterizedTest(name = "{0} (3.1.1: {1}): {4}")
  @CsvSource({
    "MQTT-3.3.1-5, MQTT-3.3.1-5, 33 11 TOPIC 00 01 00 78, 33 10 TOPIC 00 01 78, a message to be retained",
    "-, MQTT-3.3.1-7, -, 31 0E TOPIC 78, one that would replace a retained message at QoS 0",
    "MQTT-3.3.1-6, MQTT-3.3.1-10, 31 0E TOPIC 00, 31 0D TOPIC, an empty one that would remove a retained message",
    "MQTT-3.3.1-7, MQTT-3.3.1-11, 33 10 TOPIC 00 01 00, 33 0F TOPIC 00 01, an empty one at QoS 1",
    "-, MQTT-3.1.2-7, -, 33 10 TOPIC 00 01 78, a retained message that would outlive the session"
  })
  void what_a_client_wants_retained_ends_the_connection_and_is_kept_for_nobody(
      String v5, String v3, String packetV5, String packetV3, String what) throws Exception {
    if (!v5.equals(NONE)) {
      assertNotRetained(MqttVersion.V5, packetV5, v5 + " " + what);
    }
    assertNotRetained(MqttVersion.V3_1_1, packetV3, v3 + " " + what);
  }

  private void assertNotRetained(MqttVersion version, String packet, String what) throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(HexFormat.of().parseHex(packet.replace("TOPIC", TOPIC).replace(" ", "")));

      assertThat(SharedNode.end(client))
          .as(what)
          .isEqualTo(told(version, ReasonCode.RETAIN_NOT_SUPPORTED));
    }
    assertThat(at.uplinksOf(device)).as(what).isEmpty();
    try (var client = at.subscribed(device, version)) {
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "1"})
  void mqtt_3_3_1_9_mqtt_3_3_1_10_no_message_comes_because_of_a_subscription(int handling)
      throws Exception {
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      SharedNode.acknowledge(client, client.expect(Publish.class));
      client.send(new MqttPacket.Unsubscribe(2, List.of("push/messages"), MqttProperties.NONE));
      client.expect(MqttPacket.UnsubAck.class);

      // The first time as a new subscription, the second time over one that exists.
      for (int time = 0; time < 2; time++) {
        client.send(
            new MqttPacket.Subscribe(
                3,
                List.of(
                    new SubscriptionRequest(
                        "push/messages", QoS.AT_LEAST_ONCE, false, true, handling)),
                MqttProperties.NONE));
        assertThat(client.expect(MqttPacket.SubAck.class).codes()).containsExactly(1);
        SharedNode.silent(client);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_5_2_1_to_3_mqtt_4_3_3_8_to_13_a_publish_of_qos_2_ends_the_connection_without_pubrec(
      MqttVersion version) throws Exception {
    for (boolean duplicate : List.of(false, true)) {
      try (var client = at.connected(device, version)) {
        client.send(
            new Publish(
                "push/uplink",
                Binary.of("x"),
                QoS.EXACTLY_ONCE,
                false,
                duplicate,
                7,
                MqttProperties.NONE));

        assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.QOS_NOT_SUPPORTED));
      }
    }
    assertThat(at.uplinksOf(device)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_7_2_1_to_3_a_pubrel_ends_the_connection_without_pubcomp(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(new MqttPacket.PubRel(7, ReasonCode.SUCCESS, MqttProperties.NONE));

      assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.PROTOCOL_ERROR));
    }
  }

  /// For the sender of a message (MQTT-4.3.3-1 to -7) QoS 2 begins with its PUBLISH.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_6_2_1_to_3_mqtt_4_3_3_1_to_7_no_message_is_sent_at_qos_2_and_no_pubrel(
      MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(
          new MqttPacket.Subscribe(
              1,
              List.of(new SubscriptionRequest("push/messages", QoS.EXACTLY_ONCE)),
              MqttProperties.NONE));
      assertThat(client.expect(MqttPacket.SubAck.class).codes()).containsExactly(1);
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      var publish = client.expect(Publish.class);
      assertThat(publish.qos()).isEqualTo(QoS.AT_LEAST_ONCE);

      client.send(
          new MqttPacket.PubRec(publish.packetId(), ReasonCode.SUCCESS, MqttProperties.NONE));

      assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.PROTOCOL_ERROR));
    }
  }

  @ParameterizedTest
  @CsvSource({"V5, 158", "V3_1_1, 128"})
  void mqtt_4_8_2_3_to_6_a_shared_subscription_is_refused_and_gets_nothing(
      MqttVersion version, int code) throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(
          new MqttPacket.Subscribe(
              1,
              List.of(new SubscriptionRequest("$share/g/push/messages", QoS.AT_LEAST_ONCE)),
              MqttProperties.NONE));
      assertThat(client.expect(MqttPacket.SubAck.class).codes()).containsExactly(code);

      var outcome = at.gateway().deliver(device, TestNode.newMessage(), "{}");

      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
      assertThat(outcome.reason()).isEqualTo("not_subscribed");
      SharedNode.silent(client);
    }
  }

  /// No method is offered, so the server has nothing to authenticate with.
  @Test
  void mqtt_3_15_2_1_to_3_the_server_sends_no_auth() throws Exception {
    var method = MqttProperties.with(PropertyId.AUTHENTICATION_METHOD, "SCRAM-SHA-256");
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, true, method));

      assertThat(client.expect(MqttPacket.ConnAck.class).code())
          .isEqualTo(ReasonCode.BAD_AUTHENTICATION_METHOD.code());
      assertThat(client.next()).isEmpty();
    }
    // Each Authenticate Reason Code: success, continue, re-authenticate.
    for (int code : List.of(0x00, 0x18, 0x19)) {
      try (var client = at.connected(device, MqttVersion.V5)) {
        client.send(new MqttPacket.Auth(code, code == 0 ? MqttProperties.NONE : method));

        assertThat(SharedNode.end(client)).isEqualTo(ReasonCode.PROTOCOL_ERROR);
      }
    }
  }
}
