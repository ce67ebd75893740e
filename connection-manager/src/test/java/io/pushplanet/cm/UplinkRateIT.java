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
  void what_is_published_too_fast_is_taken_later_and_all_of_it(MqttVersion version)
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

  private static RawClient connected(TestNode node, MqttVersion version) throws Exception {
    return RawClient.connected(node.port("mqtt"), RawClient.connect(version, TestNode.newDevice()));
  }

  /// At once.
  private static byte[] uplinks(MqttVersion version, int number) {
    var bytes = new ByteArrayOutputStream();
    for (int id = 1; id <= number; id++) {
      bytes.writeBytes(
          new PacketEncoder()
              .encode(
                  new MqttPacket.Publish(
                      Uplinks.UPLINK,
                      Binary.of("{}"),
                      QoS.AT_LEAST_ONCE,
                      false,
                      false,
                      id,
                      MqttProperties.NONE),
                  version));
    }
    return bytes.toByteArray();
  }
}
