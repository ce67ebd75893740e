package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// A client's Maximum Packet Size and its wish for reasons, statement by statement (see
/// [ConnectStatementsIT] for the names).
class PacketSizeStatementsIT extends ConnectScene {
  PacketSizeStatementsIT(SharedNode at) {
    super(at);
  }

  @Test
  void mqtt_3_1_2_24_nothing_exceeds_the_clients_maximum_packet_size() throws Exception {
    try (var client = at.connected(small(80))) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      client.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);
      assertThat(sizeOf(client.expect(MqttPacket.PubAck.class))).isLessThanOrEqualTo(80);
      client.send(HexFormat.of().parseHex("C100"));
      assertThat(sizeOf(client.expect(MqttPacket.Disconnect.class))).isLessThanOrEqualTo(80);
    }
  }

  @Test
  void mqtt_3_4_2_2_mqtt_3_4_2_3_a_puback_says_nothing_more_where_there_is_no_room()
      throws Exception {
    try (var roomy = at.connected(device, MqttVersion.V5);
        var small = at.connected(of(TestNode.newDevice(), small(80)))) {
      roomy.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);
      small.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);

      var explained = roomy.expect(MqttPacket.PubAck.class).properties();
      assertThat(explained.text(PropertyId.REASON_STRING)).isPresent();
      assertThat(explained.userProperties()).isEmpty();
      assertThat(small.expect(MqttPacket.PubAck.class).properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_3_14_2_3_mqtt_3_14_2_4_a_disconnect_says_nothing_more_where_there_is_no_room()
      throws Exception {
    try (var roomy = at.connected(device, MqttVersion.V5);
        var small = at.connected(of(TestNode.newDevice(), small(80)))) {
      roomy.send(HexFormat.of().parseHex("C100"));
      small.send(HexFormat.of().parseHex("C100"));

      var explained = roomy.expect(MqttPacket.Disconnect.class).properties();
      assertThat(explained.text(PropertyId.REASON_STRING)).isPresent();
      assertThat(explained.userProperties()).isEmpty();
      assertThat(small.expect(MqttPacket.Disconnect.class).properties().isEmpty()).isTrue();
    }
  }

  @Test
  void mqtt_3_1_2_24_a_client_without_room_for_a_connack_is_refused_in_five_bytes()
      throws Exception {
    var tiny = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, 20);
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device, true, tiny));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(ReasonCode.PACKET_TOO_LARGE.code());
      assertThat(sizeOf(refused)).isEqualTo(5);
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void mqtt_3_2_2_19_a_refusal_keeps_within_the_maximum_packet_size() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(renamed(small(40), "another"));

      var refused = client.expect(MqttPacket.ConnAck.class);

      assertThat(refused.code()).isEqualTo(0x86);
      assertThat(sizeOf(refused)).isLessThanOrEqualTo(40);
    }
  }

  @Test
  void mqtt_3_1_2_29_a_client_that_wants_no_problem_information_gets_no_reason_string()
      throws Exception {
    for (int wanted = 0; wanted <= 1; wanted++) {
      var wish = MqttProperties.with(PropertyId.REQUEST_PROBLEM_INFORMATION, wanted);
      try (var client = at.connected(RawClient.connect(MqttVersion.V5, device, true, wish))) {
        client.publish("elsewhere", "x", QoS.AT_LEAST_ONCE, false);

        var refused = client.expect(MqttPacket.PubAck.class);

        assertThat(refused.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(refused.properties().has(PropertyId.REASON_STRING)).isEqualTo(wanted == 1);
      }
    }
  }

  /// A CONNECT with this Maximum Packet Size.
  private Connect small(int bytes) {
    return RawClient.connect(
        MqttVersion.V5, device, true, MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, bytes));
  }

  private static int sizeOf(MqttPacket packet) {
    return new PacketEncoder().encode(packet, MqttVersion.V5).length;
  }
}
