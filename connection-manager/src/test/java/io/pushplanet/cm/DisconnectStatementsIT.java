package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// DISCONNECT of the server, statement by statement (see [ConnectStatementsIT] for the names).
class DisconnectStatementsIT extends ConnectScene {
  /// The codes of table 3-10 of the standard that a server may send.
  private static final List<Integer> SERVERS_CODES =
      List.of(
          0x00, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8D, 0x8E, 0x8F, 0x90, 0x93, 0x94, 0x95,
          0x96, 0x97, 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F, 0xA0, 0xA1, 0xA2);

  DisconnectStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_13_2_1_an_error_ends_the_connection_whether_it_can_be_told_or_not(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.publish("push/uplink", "x", QoS.AT_LEAST_ONCE, true);

      assertThat(SharedNode.end(client)).isEqualTo(told(version, ReasonCode.RETAIN_NOT_SUPPORTED));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_4_3_the_older_connection_of_a_client_is_told_and_closed(MqttVersion version)
      throws Exception {
    try (var older = at.connected(device, version);
        var newer = at.connected(device, version)) {
      assertThat(SharedNode.end(older)).isEqualTo(told(version, ReasonCode.SESSION_TAKEN_OVER));
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_0_1_before_connack_the_server_sends_no_disconnect() throws Exception {
    for (var first : List.of("C000", "1003000461", "100D00044D5154540503003C000161")) {
      try (var client = at.raw(MqttVersion.V5)) {
        client.send(HexFormat.of().parseHex(first));

        assertThat(client.next())
            .satisfiesAnyOf(
                closed -> assertThat(closed).isEmpty(),
                refused ->
                    assertThat(refused.orElseThrow()).isInstanceOf(MqttPacket.ConnAck.class));
      }
    }
  }

  /// What a client can do wrong on the shared node. Other tests show the codes for a node's own
  /// state: 0x8B and 0x9C (`DrainIT`), 0x8D (`DeadPathsIT`), 0x93 (`UplinkStatementsIT`), 0x97
  /// (`ListenerLimitsIT`), 0x87 for a deleted device (`DeletedDevicesIT`).
  @ParameterizedTest(name = "{2}")
  @CsvSource({
    "C1 00, MALFORMED_PACKET, reserved flags",
    "20 03 00 00 00, PROTOCOL_ERROR, a packet that only a server may send",
    "10 10 00 04 4D 51 54 54 05 02 00 3C 00 00 03 61 62 63, PROTOCOL_ERROR, a second CONNECT",
    "10 0F 00 04 4D 51 54 54 04 02 00 3C 00 03 61 62 63, PROTOCOL_ERROR, one of 3.1.1",
    "10 0D 00 04 4D 51 54 54 06 02 00 3C 00 01 61, PROTOCOL_ERROR, one of a version to come",
    "10 0F 00 06 4D 51 49 73 64 70 03 02 00 3C 00 01 61, PROTOCOL_ERROR, one of MQIsdp",
    "30 05 00 01 61 00 78, NOT_AUTHORIZED, QoS 0 to a foreign topic",
    "31 05 00 01 61 00 78, RETAIN_NOT_SUPPORTED, a message to be retained",
    "34 07 00 01 61 00 01 00 78, QOS_NOT_SUPPORTED, QoS 2",
    "30 04 00 01 23 00, TOPIC_NAME_INVALID, a wildcard in a topic name",
    "30 07 00 01 61 03 23 00 01, TOPIC_ALIAS_INVALID, a topic alias",
    "32 FF FF 7F, PACKET_TOO_LARGE, a length beyond the Maximum Packet Size"
  })
  void mqtt_3_14_2_1_the_servers_disconnect_has_a_reason_of_its_table(
      String packet, ReasonCode reason, String what) throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(HexFormat.of().parseHex(packet.replace(" ", "")));

      var last = client.expect(MqttPacket.Disconnect.class).reason();

      assertThat(last).as(what).isEqualTo(reason);
      assertThat(SERVERS_CODES).contains(last.code());
      assertThat(client.next()).isEmpty();
    }
  }

  /// The filters of one packet are bounded.
  @Test
  void mqtt_3_14_2_1_the_reasons_for_filters_are_of_the_table_too() throws Exception {
    for (var filters : List.of(List.of("x".repeat(257)), Collections.nCopies(17, "a"))) {
      try (var client = at.connected(device, MqttVersion.V5)) {
        client.send(new MqttPacket.Unsubscribe(1, filters, MqttProperties.NONE));

        var last = client.expect(MqttPacket.Disconnect.class).reason();

        assertThat(last)
            .isEqualTo(
                filters.size() == 1 ? ReasonCode.TOPIC_FILTER_INVALID : ReasonCode.QUOTA_EXCEEDED);
        assertThat(SERVERS_CODES).contains(last.code());
      }
    }
  }

  @Test
  void mqtt_3_14_2_1_the_reason_for_a_takeover_is_of_the_table_too() throws Exception {
    try (var older = at.connected(device, MqttVersion.V5);
        var newer = at.connected(device, MqttVersion.V5)) {
      assertThat(older.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.SESSION_TAKEN_OVER);
      assertThat(SERVERS_CODES).contains(ReasonCode.SESSION_TAKEN_OVER.code());
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_2_2_the_servers_disconnect_has_no_session_expiry() throws Exception {
    try (var older = at.connected(SharedNode.persistent(device, MqttVersion.V5));
        var newer = at.connected(SharedNode.persistent(device, MqttVersion.V5))) {
      var last = older.expect(MqttPacket.Disconnect.class);

      assertThat(last.properties().has(PropertyId.SESSION_EXPIRY_INTERVAL)).isFalse();
      SharedNode.silent(newer);
    }
  }

  @Test
  void mqtt_3_14_4_1_mqtt_3_14_4_2_after_its_disconnect_the_server_says_nothing_and_closes()
      throws Exception {
    try (var client = at.subscribed(device, MqttVersion.V5)) {
      // Packets behind the error would each be answered, and the message would be a PUBLISH.
      client.send(HexFormat.of().parseHex("C100" + "C000" + "C000"));
      at.gateway().send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);

      assertThat(afterMessages(client)).isEqualTo(ReasonCode.MALFORMED_PACKET);
      assertThat(client.next()).isEmpty();
    }
  }

  /// The message may have arrived first.
  private static ReasonCode afterMessages(RawClient client) throws Exception {
    for (var packet = client.next(); ; packet = client.next()) {
      if (packet.orElseThrow() instanceof MqttPacket.Disconnect(var reason, _)) {
        return reason;
      }
      assertThat(packet.get()).isInstanceOf(MqttPacket.Publish.class);
    }
  }
}
