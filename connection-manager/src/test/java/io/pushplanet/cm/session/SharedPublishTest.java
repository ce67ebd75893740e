package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.transport.AtOnceLoop;
import io.pushplanet.common.message.MessageId;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class SharedPublishTest {
  private static final Subscription AT_MOST_ONCE = Subscription.of(QoS.AT_MOST_ONCE, 0);
  private static final Subscription AT_LEAST_ONCE = Subscription.of(QoS.AT_LEAST_ONCE, 0);
  private static final int SHAPES = 4;

  private final SharedPublish publish =
      new SharedPublish(
          new MessageId("0190b8a0-0000-7000-8000-000000000001"), Binary.of("hello"), 60_000);
  private final CountingLink link = new CountingLink(MqttVersion.V5);
  private final CountingLink older = new CountingLink(MqttVersion.V3_1_1);

  @Test
  void devices_of_one_shape_share_the_encoding_and_get_their_own_packet_ids() {
    assertThat(sent(AT_LEAST_ONCE, 7, 0).packetId()).isEqualTo(7);
    assertThat(sent(AT_LEAST_ONCE, 0xFEDC, 0).packetId()).isEqualTo(0xFEDC);
    assertThat(sent(AT_LEAST_ONCE, 1, 0).packetId()).isEqualTo(1);

    assertThat(link.encodings).isEqualTo(1);
  }

  @Test
  void at_qos_0_devices_share_the_bytes_themselves() {
    byte[] bytes = publish.encodedFor(link, AT_MOST_ONCE, 0, false, 0);

    assertThat(publish.encodedFor(link, AT_MOST_ONCE, 0, false, 0)).isSameAs(bytes);
  }

  @Test
  void only_the_device_that_is_sent_it_again_gets_the_dup_flag() {
    assertThat(decoded(publish.encodedFor(link, AT_LEAST_ONCE, 7, true, 0)).duplicate()).isTrue();
    assertThat(decoded(publish.encodedFor(link, AT_LEAST_ONCE, 7, false, 0)).duplicate()).isFalse();
  }

  @Test
  void a_device_is_told_the_seconds_that_are_left_now() {
    assertThat(left(sent(AT_LEAST_ONCE, 1, 0))).isEqualTo(60);
    assertThat(left(sent(AT_LEAST_ONCE, 1, 1_001))).isEqualTo(58);
    assertThat(left(sent(AT_LEAST_ONCE, 1, 59_999))).as("at least a second").isEqualTo(1);
    assertThat(link.encodings).isEqualTo(3);
  }

  /// MQTT 3.1.1 has no property for it.
  @Test
  void a_3_1_1_device_needs_no_new_encoding_for_another_second() {
    publish.encodedFor(older, AT_LEAST_ONCE, 1, false, 0);
    publish.encodedFor(older, AT_LEAST_ONCE, 1, false, 30_000);

    assertThat(older.encodings).isEqualTo(1);
  }

  @Test
  void a_shape_beyond_those_that_are_kept_is_encoded_right() {
    for (int round = 0; round < 2; round++) {
      for (int identifier = 1; identifier <= SHAPES + 1; identifier++) {
        var sent = sent(Subscription.of(QoS.AT_LEAST_ONCE, identifier), 1, 0);

        assertThat(sent.properties().number(PropertyId.SUBSCRIPTION_IDENTIFIER, 0))
            .isEqualTo(identifier);
      }
    }
    assertThat(link.encodings).as("most are kept").isLessThan(2 * SHAPES);
  }

  private MqttPacket.Publish sent(Subscription subscription, int packetId, long nowMillis) {
    return decoded(publish.encodedFor(link, subscription, packetId, false, nowMillis));
  }

  private static MqttPacket.Publish decoded(byte[] bytes) {
    var outcome =
        new PacketDecoder()
            .decode(ByteBuffer.wrap(bytes), MqttVersion.V5, PacketLimits.UNAUTHENTICATED);
    return (MqttPacket.Publish) ((DecodeOutcome.Decoded) outcome).packet();
  }

  private static long left(MqttPacket.Publish sent) {
    return sent.properties().number(PropertyId.MESSAGE_EXPIRY_INTERVAL, 0);
  }

  private static final class CountingLink extends QuietClient {
    private int encodings;

    CountingLink(MqttVersion version) {
      super(new AtOnceLoop(), version);
    }

    @Override
    public byte[] encode(MqttPacket packet) {
      encodings++;
      return super.encode(packet);
    }
  }
}
