package io.pushplanet.cm.mqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublishCopyTest {
  /// Their packets' remaining lengths take one to three bytes.
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 200, 20_000})
  void a_copy_is_what_encoding_anew_gives(int payloadBytes) {
    byte[] original = encoded(payloadBytes, 1, false);

    assertThat(PacketEncoder.copyOfPublish(original, 0xFEDC, false))
        .isEqualTo(encoded(payloadBytes, 0xFEDC, false));
    assertThat(PacketEncoder.copyOfPublish(original, 2, true))
        .isEqualTo(encoded(payloadBytes, 2, true));
    assertThat(original).as("is unchanged").isEqualTo(encoded(payloadBytes, 1, false));
  }

  private static byte[] encoded(int payloadBytes, int packetId, boolean duplicate) {
    return new PacketEncoder()
        .encode(
            new MqttPacket.Publish(
                "push/messages",
                new Binary(new byte[payloadBytes]),
                QoS.AT_LEAST_ONCE,
                false,
                duplicate,
                packetId,
                MqttProperties.NONE),
            MqttVersion.V5);
  }
}
