package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// PUBLISH of a device and the server's PUBACK, statement by statement (see [ConnectStatementsIT]
/// for the names).
class UplinkStatementsIT extends ConnectScene {
  /// Table 3-4 of the standard.
  private static final List<Integer> PUBACK_CODES =
      List.of(0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99);

  UplinkStatementsIT(SharedNode at) {
    super(at);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_2_2_1_5_mqtt_4_3_2_4_puback_has_the_identifier_of_its_publish(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      for (int id : List.of(1, 7, 0xFFFF)) {
        client.send(uplink(id, "{}", false));

        assertThat(client.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(id);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_1_8_a_publish_without_retain_is_sent_to_no_later_subscriber(MqttVersion version)
      throws Exception {
    // Of all topics only this one can be subscribed to, and a client may not publish to it.
    try (var client = at.connected(device, version)) {
      client.publish("push/messages", "kept?", QoS.AT_LEAST_ONCE, false);
      assertThat(client.next().isPresent()).as("PUBACK 0x87").isEqualTo(version == MqttVersion.V5);
    }
    try (var client = at.subscribed(device, version)) {
      SharedNode.silent(client);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_3_4_1_a_publish_is_answered_as_its_qos_demands(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      client.publish("push/uplink", "zero", QoS.AT_MOST_ONCE, false);
      SharedNode.silent(client);
      client.send(uplink(5, "one", false));
      client.expect(MqttPacket.PubAck.class);
    }
    assertThat(at.uplinksOf(device)).containsExactly("zero", "one");
  }

  @Test
  void mqtt_3_3_2_17_mqtt_3_3_2_18_user_properties_are_passed_on_in_their_order() throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client
          .send(
              uplink(
                  1,
                  "{}",
                  false,
                  MqttProperties.builder()
                      .text(PropertyId.CONTENT_TYPE, "text/plain")
                      .user("b", "1")
                      .user("a", "")
                      .user("b", "\u00e9 \"quoted\"")
                      .user("b", "1")
                      .build()))
          .expect(MqttPacket.PubAck.class);
      client.send(uplink(2, "{}", false)).expect(MqttPacket.PubAck.class);
    }

    assertThat(userPropertiesOfUplinks())
        .containsExactly(
            Optional.of(
                "[[\"b\",\"1\"],[\"a\",\"\"],[\"b\",\"\u00e9 \\\"quoted\\\"\"],[\"b\",\"1\"]]"),
            Optional.empty());
  }

  @Test
  void as_many_user_properties_as_a_packet_may_have_are_passed_on() throws Exception {
    var most = PacketLimits.UNAUTHENTICATED.userProperties();
    var properties = MqttProperties.builder();
    for (int number = 1; number <= most; number++) {
      properties.user("name-" + number, "x".repeat(90));
    }
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.send(uplink(1, "{}", false, properties.build())).expect(MqttPacket.PubAck.class);
    }

    assertThat(userPropertiesOfUplinks())
        .singleElement()
        .satisfies(pairs -> assertThat(pairs.orElseThrow().split("name-")).hasSize(most + 1));
  }

  @Test
  void the_largest_payload_and_the_most_properties_fit_into_one_packet() throws Exception {
    // A property's identifier and the lengths of its texts take five bytes.
    var value = "x".repeat(PacketLimits.UNAUTHENTICATED.propertyBytes() - 5 - "name".length());
    var largest =
        uplink(1, "y".repeat(4_096), false, MqttProperties.builder().user("name", value).build());
    try (var client = at.raw(MqttVersion.V5)) {
      var limits =
          client
              .send(RawClient.connect(MqttVersion.V5, device))
              .expect(MqttPacket.ConnAck.class)
              .properties();
      assertThat(limits.number(PropertyId.MAXIMUM_PACKET_SIZE, 0))
          .isGreaterThanOrEqualTo(new PacketEncoder().encode(largest, MqttVersion.V5).length);

      assertThat(client.send(largest).expect(MqttPacket.PubAck.class).reason())
          .isEqualTo(ReasonCode.SUCCESS);
    }

    assertThat(userPropertiesOfUplinks())
        .containsExactly(Optional.of("[[\"name\",\"" + value + "\"]]"));
  }

  @Test
  void mqtt_3_3_4_7_a_client_past_the_receive_maximum_is_told_and_closed() throws Exception {
    try (var client = at.raw(MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device));
      long most =
          client
              .expect(MqttPacket.ConnAck.class)
              .properties()
              .number(PropertyId.RECEIVE_MAXIMUM, 0xFFFF);
      var flood = new ByteArrayOutputStream();
      // Far more than could be confirmed while they are read.
      for (int id = 1; id <= most * 200; id++) {
        flood.writeBytes(new PacketEncoder().encode(uplink(id, "{}", false), MqttVersion.V5));
      }
      client.send(flood.toByteArray());

      assertThat(afterAcknowledgements(client)).isEqualTo(ReasonCode.RECEIVE_MAXIMUM_EXCEEDED);
      assertThat(client.next()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "push/uplink, {}, SUCCESS",
    "push/uplink, '', SUCCESS",
    "elsewhere, x, NOT_AUTHORIZED",
    "push/messages, x, NOT_AUTHORIZED",
    "$SYS/x, x, NOT_AUTHORIZED",
    "push/receipts, x, PAYLOAD_FORMAT_INVALID",
    "push/receipts, '', PAYLOAD_FORMAT_INVALID"
  })
  void mqtt_3_4_2_1_the_codes_of_puback_are_its_own(String topic, String payload, ReasonCode reason)
      throws Exception {
    try (var client = at.connected(device, MqttVersion.V5)) {
      client.publish(topic, payload, QoS.AT_LEAST_ONCE, false);

      var answer = client.expect(MqttPacket.PubAck.class).reason();

      assertThat(answer).isEqualTo(reason);
      assertThat(PUBACK_CODES).contains(answer.code());
    }
  }

  /// One event may wait for the broker, and the others find no room.
  @Test
  void mqtt_3_4_2_1_the_code_for_too_many_events_is_pubacks_own() throws Exception {
    try (var narrow = TestNode.start("--cm.uplink.max-open=1");
        var client =
            RawClient.connected(narrow.port("mqtt"), RawClient.connect(MqttVersion.V5, device))) {
      var together = new ByteArrayOutputStream();
      for (int id = 1; id <= 20; id++) {
        together.writeBytes(new PacketEncoder().encode(uplink(id, "{}", false), MqttVersion.V5));
      }

      client.send(together.toByteArray());

      var codes = new ArrayList<Integer>();
      for (int id = 1; id <= 20; id++) {
        codes.add(client.expect(MqttPacket.PubAck.class).reason().code());
      }
      assertThat(codes)
          .contains(ReasonCode.SUCCESS.code(), ReasonCode.QUOTA_EXCEEDED.code())
          .isSubsetOf(PUBACK_CODES);
    }
  }

  /// A 3.1.1 server "MUST either make a positive acknowledgement, or close the Network Connection".
  @ParameterizedTest
  @CsvSource({
    "elsewhere, AT_MOST_ONCE",
    "elsewhere, AT_LEAST_ONCE",
    "push/messages, AT_MOST_ONCE",
    "push/messages, AT_LEAST_ONCE"
  })
  void mqtt311_3_3_5_2_a_publish_that_is_not_authorized_ends_the_connection(String topic, QoS qos)
      throws Exception {
    try (var client = at.connected(device, MqttVersion.V3_1_1)) {
      client.subscribe().expect(MqttPacket.SubAck.class);
      client.publish(topic, "x", qos, false);

      assertThat(client.next()).isEmpty();
    }
    assertThat(at.uplinksOf(device)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_4_3_2_5_after_its_puback_an_identifier_names_a_new_message(MqttVersion version)
      throws Exception {
    try (var client = at.connected(device, version)) {
      client.send(uplink(9, "first", false)).expect(MqttPacket.PubAck.class);
      client.send(uplink(9, "second", true)).expect(MqttPacket.PubAck.class);
    }
    assertThat(at.uplinksOf(device)).containsExactly("first", "second");
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void uplinks_are_acknowledged_in_their_order(MqttVersion version) throws Exception {
    try (var client = at.connected(device, version)) {
      for (int id = 20; id >= 1; id--) {
        client.send(uplink(id, "{}", false));
      }
      for (int id = 20; id >= 1; id--) {
        assertThat(client.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(id);
      }
    }
  }

  private static ReasonCode afterAcknowledgements(RawClient client) throws Exception {
    while (true) {
      var packet = client.next();
      if (packet.isEmpty()) {
        return ReasonCode.SUCCESS;
      }
      if (packet.get() instanceof MqttPacket.Disconnect(var reason, _)) {
        return reason;
      }
      assertThat(packet.get()).isInstanceOf(MqttPacket.PubAck.class);
    }
  }
}
