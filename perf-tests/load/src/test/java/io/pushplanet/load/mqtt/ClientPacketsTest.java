package io.pushplanet.load.mqtt;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ClientPacketsTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String LOGIN = "00026431" + "000161" + "000170";

  @Test
  void connect_of_3_1_1_is_as_the_standard_draws_it() {
    assertThat(connect(MqttVersion.V3_1_1, HOUR))
        .isEqualTo("1014" + "00044d51545404c0003c" + LOGIN);
  }

  @Test
  void connect_of_5_asks_for_a_session_of_an_hour() {
    assertThat(connect(MqttVersion.V5, HOUR))
        .isEqualTo("101a00044d51545405c0003c051100000e10" + LOGIN);
  }

  @Test
  void a_session_that_ends_with_its_connection_starts_clean() {
    assertThat(connect(MqttVersion.V3_1_1, Duration.ZERO))
        .isEqualTo("1014" + "00044d51545404c2003c" + LOGIN);
    assertThat(connect(MqttVersion.V5, Duration.ZERO))
        .isEqualTo("1015" + "00044d51545405c2003c00" + LOGIN);
  }

  @Test
  void only_5_has_properties() {
    assertThat(hex(ClientPackets.subscribe(MqttVersion.V3_1_1, 1, "t", 1)))
        .isEqualTo("8206" + "0001" + "000174" + "01");
    assertThat(hex(ClientPackets.subscribe(MqttVersion.V5, 1, "t", 0)))
        .isEqualTo("8207" + "0001" + "00" + "000174" + "00");
    assertThat(hex(ClientPackets.unsubscribe(MqttVersion.V3_1_1, 9, "t")))
        .isEqualTo("a205" + "0009" + "000174");
    assertThat(hex(ClientPackets.unsubscribe(MqttVersion.V5, 9, "t")))
        .isEqualTo("a206" + "0009" + "00" + "000174");
    assertThat(hex(ClientPackets.publish(MqttVersion.V5, 7, "t", new byte[] {1})))
        .isEqualTo("3207" + "000174" + "0007" + "00" + "01");
  }

  @Test
  void a_long_packet_has_a_length_of_two_or_three_bytes() {
    assertThat(hex(ClientPackets.publish(MqttVersion.V3_1_1, 7, "t", new byte[200])))
        .startsWith("32cd01" + "000174" + "0007" + "00")
        .hasSize(2 * 208);
    assertThat(hex(ClientPackets.publish(MqttVersion.V3_1_1, 7, "t", new byte[16_384])))
        .startsWith("32858001" + "000174" + "0007" + "00")
        .hasSize(2 * 16_393);
  }

  @Test
  void an_acknowledgement_is_appended() {
    ByteBuffer acks = ByteBuffer.allocate(8);

    ClientPackets.puback(acks, 1);
    ClientPackets.puback(acks, 0xFFFF);

    assertThat(hex(acks.array())).isEqualTo("40020001" + "4002ffff");
  }

  private static String connect(MqttVersion version, Duration sessionLives) {
    return hex(
        ClientPackets.connect(
            new Connect(
                version, "d1", "a", new Secret("p"), Duration.ofSeconds(60), sessionLives)));
  }

  private static String hex(byte[] packet) {
    return HexFormat.of().formatHex(packet);
  }
}
