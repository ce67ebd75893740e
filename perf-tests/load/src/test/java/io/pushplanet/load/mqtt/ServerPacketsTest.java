package io.pushplanet.load.mqtt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ServerPacketsTest {
  @Test
  void a_length_that_is_cut_off_is_not_complete() {
    assertThat(length("80")).isEqualTo(-1);
    assertThat(length("8001")).isEqualTo(128);
    assertThatThrownBy(() -> length("8080808001")).isInstanceOf(MalformedPacket.class);
  }

  private static int length(String bytes) {
    return ServerPackets.variableInt(ByteBuffer.wrap(HexFormat.of().parseHex(bytes)));
  }
}
