package io.pushplanet.cm.mqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.Will;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CodecRoundTripTest {
  static final PacketLimits LIMITS = PacketLimits.UNAUTHENTICATED;

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void every_packet_survives_being_written_and_read(MqttVersion version) {
    for (var packet : packets(version)) {
      var bytes = new PacketEncoder().encode(packet, version);
      var before = packet instanceof MqttPacket.Connect ? null : version;

      var outcome = new PacketDecoder().decode(ByteBuffer.wrap(bytes), before, LIMITS);

      assertThat(outcome).isEqualTo(new DecodeOutcome.Decoded(packet));
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_packet_cut_anywhere_is_incomplete_and_nothing_is_consumed(MqttVersion version) {
    for (var packet : packets(version)) {
      var bytes = new PacketEncoder().encode(packet, version);
      var before = packet instanceof MqttPacket.Connect ? null : version;
      for (int length = 0; length < bytes.length; length++) {
        var cut = ByteBuffer.wrap(bytes, 0, length);

        var outcome = new PacketDecoder().decode(cut, before, LIMITS);

        assertThat(outcome).isEqualTo(new DecodeOutcome.Incomplete());
        assertThat(cut.position()).isZero();
      }
    }
  }

  static List<MqttPacket> packets(MqttVersion version) {
    boolean v5 = version == MqttVersion.V5;
    var reasonString = v5 ? MqttProperties.with(PropertyId.REASON_STRING, "grüß") : none();
    var reason = v5 ? ReasonCode.NOT_AUTHORIZED : ReasonCode.SUCCESS;
    var publishing =
        v5
            ? MqttProperties.builder()
                .number(PropertyId.MESSAGE_EXPIRY_INTERVAL, 0xFFFF_FFFFL)
                .number(PropertyId.SUBSCRIPTION_IDENTIFIER, 268_435_455)
                .text(PropertyId.CONTENT_TYPE, "text/plain")
                .binary(PropertyId.CORRELATION_DATA, new byte[] {0, 1, 2})
                .user("id", "1")
                .user("id", "2")
                .build()
            : none();
    var connecting =
        v5
            ? MqttProperties.builder()
                .number(PropertyId.SESSION_EXPIRY_INTERVAL, 3600)
                .number(PropertyId.RECEIVE_MAXIMUM, 10)
                .build()
            : none();
    var will = new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, true, none());
    return List.of(
        new MqttPacket.Connect(version, true, 0, "", null, null, null, none()),
        new MqttPacket.Connect(
            version, false, 65535, "d1", "shop", Binary.of("secret"), will, connecting),
        new MqttPacket.ConnAck(true, 0, reasonString),
        new MqttPacket.Publish("a/b", Binary.EMPTY, QoS.AT_MOST_ONCE, false, false, 0, none()),
        new MqttPacket.Publish(
            "push/messages",
            Binary.of("x".repeat(5000)),
            QoS.AT_LEAST_ONCE,
            true,
            true,
            65535,
            publishing),
        new MqttPacket.PubAck(1, ReasonCode.SUCCESS),
        new MqttPacket.PubAck(2, reason, reasonString),
        new MqttPacket.PubRec(3, reason, none()),
        new MqttPacket.PubRel(4, ReasonCode.SUCCESS, none()),
        new MqttPacket.PubComp(5, ReasonCode.SUCCESS, none()),
        new MqttPacket.Subscribe(
            6,
            List.of(
                new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE),
                new SubscriptionRequest("#", QoS.EXACTLY_ONCE, v5, v5, v5 ? 2 : 0)),
            none()),
        new MqttPacket.SubAck(6, List.of(1, 128), none()),
        new MqttPacket.Unsubscribe(7, List.of("push/messages"), none()),
        new MqttPacket.UnsubAck(7, v5 ? List.of(0x11) : List.of(), none()),
        new MqttPacket.PingReq(),
        new MqttPacket.PingResp(),
        new MqttPacket.Disconnect(
            v5 ? ReasonCode.SESSION_TAKEN_OVER : ReasonCode.SUCCESS, reasonString));
  }

  private static MqttProperties none() {
    return MqttProperties.NONE;
  }
}
