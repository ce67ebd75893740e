package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.util.HexFormat;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Malformed packets, statement by statement: each ends the connection, with its reason for an MQTT
/// 5 client and without a packet for a 3.1.1 client (MQTT-4.13.1-1, in 3.1.1 MQTT-4.8.0-1).
@ExtendWith(SharedNode.Resolver.class)
class MalformedStatementsIT {
  private static final String NONE = "-";

  private final SharedNode at;

  MalformedStatementsIT(SharedNode at) {
    this.at = at;
  }

  @ParameterizedTest(name = "{0} (3.1.1: {1}): {5}")
  @CsvSource({
    "MQTT-1.5.4-1, MQTT-1.5.3-1, 30 05 00 02 C3 28 00, 30 04 00 02 C3 28, MALFORMED_PACKET, ill-formed UTF-8",
    "MQTT-1.5.4-1, MQTT-1.5.3-1, 30 06 00 03 ED A0 80 00, 30 05 00 03 ED A0 80, MALFORMED_PACKET, a surrogate",
    "MQTT-1.5.4-2, MQTT-1.5.3-2, 30 04 00 01 00 00, 30 03 00 01 00, MALFORMED_PACKET, U+0000",
    "MQTT-1.5.5-1, -, C0 80 00, -, MALFORMED_PACKET, a length in more bytes than needed",
    "MQTT-1.5.7-1, -, 30 0A 00 01 61 06 26 00 01 FF 00 00, -, MALFORMED_PACKET, a user property that is not UTF-8",
    "MQTT-2.1.3-1, MQTT-2.2.2-2, C1 00, C1 00, MALFORMED_PACKET, reserved flags",
    "MQTT-2.2.1-3, MQTT-2.3.1-1, 82 07 00 00 00 00 01 61 01, 82 06 00 00 00 01 61 01, PROTOCOL_ERROR, packet identifier 0",
    "MQTT-3.3.1-2, MQTT-3.3.1-2, 38 04 00 01 61 00, 38 03 00 01 61, MALFORMED_PACKET, DUP at QoS 0",
    "MQTT-3.3.1-4, MQTT-3.3.1-4, 36 06 00 01 61 00 01 00, 36 05 00 01 61 00 01, MALFORMED_PACKET, both QoS bits",
    "MQTT-3.3.2-1, MQTT-3.3.2-1, 30 01 00, 30 01 00, MALFORMED_PACKET, a PUBLISH without a topic",
    "MQTT-3.3.2-2, MQTT-3.3.2-2, 30 04 00 01 23 00, 30 03 00 01 23, TOPIC_NAME_INVALID, a wildcard in a topic name",
    "MQTT-4.7.0-1, MQTT-4.7.1-1, 30 04 00 01 2B 00, 30 03 00 01 2B, TOPIC_NAME_INVALID, the other wildcard",
    "MQTT-3.3.2-7, -, 30 06 00 00 03 23 00 01, -, TOPIC_ALIAS_INVALID, an alias that only a former connection could have explained",
    "MQTT-3.3.2-8, -, 30 07 00 01 61 03 23 00 00, -, TOPIC_ALIAS_INVALID, topic alias 0",
    "MQTT-3.3.2-9, -, 30 07 00 01 61 03 23 00 01, -, TOPIC_ALIAS_INVALID, an alias over the maximum of 0",
    "MQTT-3.3.2-13, -, 30 08 00 01 61 04 08 00 01 FF, -, MALFORMED_PACKET, a response topic that is not UTF-8",
    "MQTT-3.3.2-14, -, 30 08 00 01 61 04 08 00 01 2B, -, TOPIC_NAME_INVALID, a wildcard in the response topic",
    "MQTT-3.3.2-19, -, 30 08 00 01 61 04 03 00 01 FF, -, MALFORMED_PACKET, a content type that is not UTF-8",
    "MQTT-3.3.4-6, -, 30 06 00 01 61 02 0B 01, -, PROTOCOL_ERROR, a client's PUBLISH with a subscription identifier",
    "MQTT-3.6.1-1, MQTT-3.6.1-1, 60 02 00 01, 60 02 00 01, MALFORMED_PACKET, PUBREL without its flags",
    "MQTT-3.8.1-1, MQTT-3.8.1-1, 80 07 00 01 00 00 01 61 00, 80 06 00 01 00 01 61 00, MALFORMED_PACKET, SUBSCRIBE without its flags",
    "MQTT-3.8.3-1, MQTT-3.8.3-1, 82 07 00 01 00 00 01 FF 00, 82 06 00 01 00 01 FF 00, MALFORMED_PACKET, a filter that is not UTF-8",
    "MQTT-3.8.3-2, MQTT-3.8.3-3, 82 03 00 01 00, 82 02 00 01, PROTOCOL_ERROR, SUBSCRIBE without a filter",
    "MQTT-3.8.3-4, -, 82 10 00 01 00 00 0A 24 73 68 61 72 65 2F 67 2F 74 05, -, PROTOCOL_ERROR, No Local on a shared subscription",
    "MQTT-3.8.3-5, MQTT-3.8.3-4, 82 07 00 01 00 00 01 61 C1, 82 06 00 01 00 01 61 04, MALFORMED_PACKET, reserved bits in the options",
    "MQTT-3.10.1-1, MQTT-3.10.1-1, A0 06 00 01 00 00 01 61, A0 05 00 01 00 01 61, MALFORMED_PACKET, UNSUBSCRIBE without its flags",
    "MQTT-3.10.3-1, MQTT-3.10.3-1, A2 06 00 01 00 00 01 FF, A2 05 00 01 00 01 FF, MALFORMED_PACKET, a filter that is not UTF-8",
    "MQTT-3.10.3-2, MQTT-3.10.3-2, A2 03 00 01 00, A2 02 00 01, PROTOCOL_ERROR, UNSUBSCRIBE without a filter",
    "MQTT-3.14.1-1, MQTT-3.14.1-1, E1 00, E1 00, MALFORMED_PACKET, reserved flags in DISCONNECT",
    "MQTT-3.15.1-1, -, F1 00, -, MALFORMED_PACKET, reserved flags in AUTH",
    "MQTT-4.7.3-1, MQTT-4.7.3-1, 82 06 00 01 00 00 00 01, 82 05 00 01 00 00 01, MALFORMED_PACKET, an empty filter",
    "MQTT-4.7.3-2, MQTT-4.7.3-2, 82 07 00 01 00 00 01 00 00, 82 06 00 01 00 01 00 00, MALFORMED_PACKET, U+0000 in a filter",
    "MQTT-4.12.0-7, -, F0 02 18 00, -, PROTOCOL_ERROR, AUTH although no method was agreed on",
    "MQTT-4.12.1-1, -, F0 02 19 00, -, PROTOCOL_ERROR, re-authentication without a method"
  })
  void mqtt_4_13_1_1_a_broken_packet_ends_the_connection_with_its_reason(
      String v5, String v3, String packetV5, String packetV3, ReasonCode reason, String what)
      throws Exception {
    try (var client = at.connected(TestNode.newDevice(), MqttVersion.V5)) {
      client.send(bytes(packetV5));

      assertThat(SharedNode.end(client)).as(v5 + " " + what).isEqualTo(reason);
    }
    if (!v3.equals(NONE)) {
      try (var client = at.connected(TestNode.newDevice(), MqttVersion.V3_1_1)) {
        client.send(bytes(packetV3));

        assertThat(client.next()).as(v3 + " " + what).isEmpty();
      }
    }
  }

  /// The payload is written for 3.1.1; `|` marks where MQTT 5 has the will's properties.
  @ParameterizedTest(name = "{0} (3.1.1: {1}): {4}")
  @CsvSource({
    "MQTT-3.1.2-3, MQTT-3.1.2-3, 03, 00 01 61, the reserved flag",
    "MQTT-3.1.2-9, MQTT-3.1.2-9, 06, 00 01 61, a will flag without a will",
    "MQTT-3.1.2-11, MQTT-3.1.2-13, 0A, 00 01 61, a will QoS without a will",
    "MQTT-3.1.2-12, MQTT-3.1.2-14, 1E, 00 01 61 | 00 01 74 00 00, a will QoS of 3",
    "MQTT-3.1.2-13, MQTT-3.1.2-15, 22, 00 01 61, a will retain without a will",
    "-, MQTT-3.1.2-11, 02, 00 01 61 00 01 74 00 00, a will without a will flag",
    "MQTT-3.1.2-16, MQTT-3.1.2-18, 02, 00 01 61 00 01 75, a user name without its flag",
    "MQTT-3.1.2-17, MQTT-3.1.2-19, 82, 00 01 61, a user name flag without a name",
    "MQTT-3.1.2-18, MQTT-3.1.2-20, 82, 00 01 61 00 01 75 00 01 70, a password without its flag",
    "MQTT-3.1.2-19, MQTT-3.1.2-21, C2, 00 01 61 00 01 75, a password flag without a password",
    "-, MQTT-3.1.2-22, 42, 00 01 61 00 01 70, a password flag without a user name flag",
    "MQTT-3.1.3-3, MQTT-3.1.3-3, 02, '', no client identifier",
    "MQTT-3.1.3-4, MQTT-3.1.3-4, 02, 00 01 FF, a client identifier that is not UTF-8",
    "MQTT-3.1.3-11, MQTT-3.1.3-10, 06, 00 01 61 | 00 01 FF 00 00, a will topic that is not UTF-8",
    "MQTT-3.1.3-12, MQTT-3.1.3-11, 82, 00 01 61 00 01 FF, a user name that is not UTF-8"
  })
  void a_broken_connect_is_not_taken(
      String v5, String v3, String flags, String payload, String what) throws Exception {
    if (!v5.equals(NONE)) {
      try (var client = at.raw(MqttVersion.V5)) {
        client.send(connect("05 " + flags + " 00 3C 00 " + payload.replace("|", "00")));

        assertThat(client.expect(MqttPacket.ConnAck.class).code())
            .as(v5 + " " + what)
            .isEqualTo(0x81);
        assertThat(client.next()).isEmpty();
      }
    }
    // MQTT-3.1.4-1 of 3.1.1: closed "without sending a CONNACK".
    try (var client = at.raw(MqttVersion.V3_1_1)) {
      client.send(connect("04 " + flags + " 00 3C " + payload.replace("|", "")));

      assertThat(client.next()).as(v3 + " " + what).isEmpty();
    }
  }

  private static byte[] connect(String afterName) {
    var body = bytes("00 04 4D 51 54 54 " + afterName);
    var packet = new byte[2 + body.length];
    packet[0] = 0x10;
    packet[1] = (byte) body.length;
    System.arraycopy(body, 0, packet, 2, body.length);
    return packet;
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }
}
