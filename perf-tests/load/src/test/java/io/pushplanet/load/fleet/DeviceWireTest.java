package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class DeviceWireTest {
  private static final HexFormat HEX = HexFormat.of();

  @Test
  void connect_of_3_1_1_is_as_the_standard_draws_it() {
    ByteBuffer packet = DeviceWire.connect(device(MqttVersion.V3_1_1), FleetSettings.DEFAULT);

    assertThat(hex(packet))
        .isEqualTo("1014" + "00044d51545404c0003c" + "00026431" + "000161" + "000170");
  }

  @Test
  void connect_of_5_asks_for_a_session_of_an_hour() {
    ByteBuffer packet = DeviceWire.connect(device(MqttVersion.V5), FleetSettings.DEFAULT);

    assertThat(hex(packet))
        .isEqualTo("101a00044d51545405c0003c051100000e10" + "00026431" + "000161" + "000170");
  }

  @Test
  void a_long_packet_has_a_length_of_two_bytes() {
    ByteBuffer packet = DeviceWire.publish(MqttVersion.V3_1_1, 7, "t", new byte[200]);

    assertThat(hex(packet)).startsWith("32cd01" + "000174" + "0007" + "00");
  }

  @Test
  void a_length_that_is_cut_off_is_not_complete() {
    assertThat(DeviceWire.variableInt(ByteBuffer.wrap(HEX.parseHex("80")))).isEqualTo(-1);
    assertThat(DeviceWire.variableInt(ByteBuffer.wrap(HEX.parseHex("8001")))).isEqualTo(128);
    assertThatThrownBy(() -> DeviceWire.variableInt(ByteBuffer.wrap(HEX.parseHex("8080808001"))))
        .isInstanceOf(MalformedPacket.class);
  }

  private static Device device(MqttVersion version) {
    return new Device(new AppId("a"), new DeviceId("d1"), new Secret("p"), version);
  }

  private static String hex(ByteBuffer packet) {
    byte[] bytes = new byte[packet.remaining()];
    packet.get(bytes);
    return HEX.formatHex(bytes);
  }
}
