package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.uplink.Uplinks;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A device that publishes faster than `cm.uplink.per-second`, over TCP.
class UplinkRateIT {
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void publishes_that_are_too_fast_are_taken_later_and_none_is_lost(MqttVersion version)
      throws Exception {
    try (var node =
            TestNode.start(
                "--cm.uplink.per-second=5", "--cm.uplink.burst=5", "--cm.transport.loops=1");
        var flood = connected(node, version);
        var other = connected(node, version)) {
      long begunNanos = System.nanoTime();
      flood.send(uplinks(version, 15));
      for (int id = 1; id <= 5; id++) {
        assertThat(flood.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(id);
      }
      other.send(uplinks(version, 1));
      other.expect(MqttPacket.PubAck.class);
      for (int id = 6; id <= 15; id++) {
        assertThat(flood.expect(MqttPacket.PubAck.class).packetId()).isEqualTo(id);
      }

      assertThat(Duration.ofNanos(System.nanoTime() - begunNanos))
          .as("ten behind the burst")
          .isGreaterThan(Duration.ofMillis(1_900));
      assertThat(node.bean(MeterRegistry.class).get("cm.uplink.slowed").counter().count())
          .isPositive();
      flood.send(new MqttPacket.PingReq()).expect(MqttPacket.PingResp.class);
    }
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_floods_at_qos_0_is_answered_before_its_client_gives_up(MqttVersion version)
      throws Exception {
    try (var node = TestNode.start("--cm.uplink.per-second=5", "--cm.uplink.burst=5");
        var flood = connected(node, version)) {
      long begunNanos = System.nanoTime();
      flood.send(uplinks(version, 300, QoS.AT_MOST_ONCE)).send(new MqttPacket.PingReq());

      flood.expect(MqttPacket.PingResp.class);

      assertThat(Duration.ofNanos(System.nanoTime() - begunNanos))
          .as("300 at five a second are a minute")
          .isLessThan(Duration.ofSeconds(30));
      flood.send(uplinks(version, 1, QoS.AT_LEAST_ONCE)).expect(MqttPacket.PubAck.class);
    }
  }

  /// The device sends at once the uplinks that it gathered while it was away.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void five_hundred_at_once_are_taken_at_once(MqttVersion version) throws Exception {
    try (var node = TestNode.start();
        var client = connected(node, version)) {
      client.send(uplinks(version, 500, QoS.AT_MOST_ONCE)).send(new MqttPacket.PingReq());

      client.expect(MqttPacket.PingResp.class);

      var meters = node.bean(MeterRegistry.class);
      assertThat(meters.get("cm.uplink.received").tag("kind", "uplink").counter().count())
          .isEqualTo(500);
      assertThat(meters.get("cm.uplink.slowed").counter().count()).isZero();
    }
  }

  private static RawClient connected(TestNode node, MqttVersion version) throws Exception {
    return RawClient.connected(node.port("mqtt"), RawClient.connect(version, TestNode.newDevice()));
  }

  /// In one piece.
  private static byte[] uplinks(MqttVersion version, int number) {
    return uplinks(version, number, QoS.AT_LEAST_ONCE);
  }

  private static byte[] uplinks(MqttVersion version, int number, QoS qos) {
    var bytes = new ByteArrayOutputStream();
    for (int id = 1; id <= number; id++) {
      bytes.writeBytes(
          new PacketEncoder()
              .encode(
                  new MqttPacket.Publish(
                      Uplinks.UPLINK,
                      Binary.of("{}"),
                      qos,
                      false,
                      false,
                      qos == QoS.AT_MOST_ONCE ? 0 : id,
                      MqttProperties.NONE),
                  version));
    }
    return bytes.toByteArray();
  }
}
