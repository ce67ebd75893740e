package io.pushplanet.cm.mqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PacketDecoderTest {
  @ParameterizedTest(name = "{2}")
  @CsvSource({
    "V5, 00 00, MALFORMED_PACKET, packet type 0",
    "V5, 36 00, MALFORMED_PACKET, QoS 3 in PUBLISH",
    "V5, 38 04 00 01 61 00, MALFORMED_PACKET, DUP at QoS 0",
    "V5, 80 00, MALFORMED_PACKET, SUBSCRIBE without its flags",
    "V5, C1 00, MALFORMED_PACKET, reserved flags in PINGREQ",
    "V5, C0 80 00, MALFORMED_PACKET, remaining length longer than needed",
    "V5, C0 FF FF FF FF, MALFORMED_PACKET, remaining length of five bytes",
    "V5, 30 FF FF FF 7F, PACKET_TOO_LARGE, refused by the declared length alone",
    "V3_1_1, 30 FF FF FF 7F, PACKET_TOO_LARGE, the same in 3.1.1",
    "V5, 30 04 00 02 C3 28, MALFORMED_PACKET, a topic that is not UTF-8",
    "V5, 30 05 00 03 ED A0 80, MALFORMED_PACKET, a surrogate",
    "V5, 30 04 00 02 C0 80, MALFORMED_PACKET, an overlong form",
    "V5, 30 04 00 01 00 00, MALFORMED_PACKET, U+0000",
    "V5, 30 03 00 05 61, MALFORMED_PACKET, a string past the end",
    "V5, 30 04 00 01 2B 00, TOPIC_NAME_INVALID, a wildcard in a topic",
    "V5, 30 03 00 00 00, PROTOCOL_ERROR, neither topic nor alias",
    "V5, 32 06 00 01 61 00 00 00, PROTOCOL_ERROR, packet id 0",
    "V5, 30 06 00 01 61 02 01 02, PROTOCOL_ERROR, payload format 2",
    "V5, 30 07 00 01 61 03 23 00 00, TOPIC_ALIAS_INVALID, topic alias 0",
    "V5, 30 08 00 01 61 04 01 00 01 00, PROTOCOL_ERROR, a property twice",
    "V5, 30 06 00 01 61 02 24 01, MALFORMED_PACKET, a property of another packet",
    "V5, 30 06 00 01 61 02 7E 01, MALFORMED_PACKET, a property nobody knows",
    "V5, 30 05 00 01 61 81 10, PACKET_TOO_LARGE, properties over 2 KB",
    "V5, 82 03 00 01 00, PROTOCOL_ERROR, SUBSCRIBE without a filter",
    "V5, 82 07 00 01 00 00 01 61 C1, MALFORMED_PACKET, reserved subscription options",
    "V5, 82 07 00 01 00 00 01 61 03, MALFORMED_PACKET, a subscription with QoS 3",
    "V5, 82 07 00 01 00 00 01 61 30, PROTOCOL_ERROR, retain handling 3",
    "V5, E0 01 7F, MALFORMED_PACKET, a reason code nobody knows",
    "V5, 10, PROTOCOL_ERROR, a second CONNECT by its first byte",
    "V3_1_1, 10 0A 00 04 4D 51 54 54 06 02 00 00, PROTOCOL_ERROR, one of a version to come",
    "V3_1_1, F0 00, MALFORMED_PACKET, AUTH in 3.1.1",
    "V3_1_1, C0 01 00, MALFORMED_PACKET, bytes after the end",
    "'', 30 00, PROTOCOL_ERROR, a first packet that is not CONNECT",
    "'', 10 FF FF 7F, PACKET_TOO_LARGE, a CONNECT over 8 KB",
    "'', 10 0C 00 06 4D 51 49 73 64 70 03 02 00 00, UNSUPPORTED_PROTOCOL_VERSION, MQIsdp",
    "'', 10 0A 00 04 4D 51 54 54 06 02 00 00, UNSUPPORTED_PROTOCOL_VERSION, a version to come",
    "'', 10 0C 00 04 4D 51 54 54 04 03 00 00 00 00, MALFORMED_PACKET, the reserved CONNECT flag",
    "'', 10 0C 00 04 4D 51 54 54 04 0A 00 00 00 00, MALFORMED_PACKET, a will QoS without a will",
    "'', 10 0C 00 04 4D 51 54 54 04 42 00 00 00 00, MALFORMED_PACKET, a password without a name",
    "'', 10 0F 00 04 4D 51 54 54 05 02 00 00 03 21 00 00 00 00, PROTOCOL_ERROR, receive maximum 0"
  })
  void rubbish_is_refused_with_its_exact_reason(
      String version, String hex, ReasonCode reason, String what) {
    var input = ByteBuffer.wrap(HexFormat.ofDelimiter(" ").parseHex(hex.strip()));
    MqttVersion spoken = version.isEmpty() ? null : MqttVersion.valueOf(version);
    var padded = ByteBuffer.allocate(input.remaining() + 8192).put(input).flip();
    padded.limit(what.contains("2 KB") ? padded.capacity() : padded.limit());

    var outcome = decode(padded, spoken);

    assertThat(outcome).as(what).isInstanceOf(DecodeOutcome.Refused.class);
    assertThat(((DecodeOutcome.Refused) outcome).reason()).as(what).isEqualTo(reason);
  }

  @Test
  void an_oversized_connect_of_mqtt_5_is_recognised_from_the_bytes_that_are_there() {
    for (var order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
      var input = ByteBuffer.wrap(HexFormat.of().parseHex("10FFFF7F00044D51545405")).order(order);

      var outcome = (DecodeOutcome.Refused) decode(input, null);

      assertThat(outcome.version()).as("%s", order).isEqualTo(MqttVersion.V5);
    }
  }

  @Test
  void until_the_remaining_length_has_arrived_a_packet_is_incomplete() {
    for (var hex : List.of("", "30", "3080", "308080", "30808080")) {
      var input = ByteBuffer.wrap(HexFormat.of().parseHex(hex));

      assertThat(decode(input, MqttVersion.V5))
          .as(hex)
          .isInstanceOf(DecodeOutcome.Incomplete.class);
      assertThat(input.position()).as(hex).isZero();
    }
  }

  @Test
  void more_than_sixteen_user_properties_or_filters_are_refused() {
    var properties = MqttProperties.builder();
    var filters = new ArrayList<SubscriptionRequest>();
    for (int index = 0; index < 17; index++) {
      properties.user("k" + index, "v");
      filters.add(new SubscriptionRequest("f" + index, QoS.AT_MOST_ONCE));
    }
    var publish =
        new MqttPacket.Publish(
            "a", Binary.EMPTY, QoS.AT_MOST_ONCE, false, false, 0, properties.build());
    var subscribe = new MqttPacket.Subscribe(1, filters, MqttProperties.NONE);

    assertThat(reason(publish)).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
    assertThat(reason(subscribe)).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
  }

  @Test
  void mqtt_4_7_3_3_a_topic_of_more_than_256_bytes_or_8_levels_is_refused() {
    assertThat(publishing("x".repeat(256))).isInstanceOf(DecodeOutcome.Decoded.class);
    assertThat(publishing("1/2/3/4/5/6/7/8")).isInstanceOf(DecodeOutcome.Decoded.class);
    for (var tooLong : List.of("x".repeat(257), "1/2/3/4/5/6/7/8/")) {
      var refused = (DecodeOutcome.Refused) publishing(tooLong);
      assertThat(refused.reason()).isEqualTo(ReasonCode.TOPIC_NAME_INVALID);
      var subscribe =
          new MqttPacket.Subscribe(
              1, List.of(new SubscriptionRequest(tooLong, QoS.AT_LEAST_ONCE)), MqttProperties.NONE);
      assertThat(reason(subscribe)).isEqualTo(ReasonCode.TOPIC_FILTER_INVALID);
    }
  }

  private static DecodeOutcome publishing(String topic) {
    var publish =
        new MqttPacket.Publish(
            topic, Binary.EMPTY, QoS.AT_MOST_ONCE, false, false, 0, MqttProperties.NONE);
    return decode(
        ByteBuffer.wrap(new PacketEncoder().encode(publish, MqttVersion.V5)), MqttVersion.V5);
  }

  @Test
  void a_connects_password_shows_in_no_text() {
    var connect =
        new MqttPacket.Connect(
            MqttVersion.V5, true, 0, "d1", "shop", Binary.of("hunter2"), null, MqttProperties.NONE);

    assertThat(connect.toString()).contains("d1").doesNotContain("hunter2");
    assertThat(connect.password()).hasToString("7 bytes");
  }

  private static ReasonCode reason(MqttPacket packet) {
    var bytes = new PacketEncoder().encode(packet, MqttVersion.V5);
    return ((DecodeOutcome.Refused) decode(ByteBuffer.wrap(bytes), MqttVersion.V5)).reason();
  }

  private static DecodeOutcome decode(ByteBuffer input, @Nullable MqttVersion version) {
    return new PacketDecoder().decode(input, version, PacketLimits.UNAUTHENTICATED);
  }
}
