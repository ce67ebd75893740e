package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.common.message.MessageId;
import org.junit.jupiter.api.Test;

class WindowTest {
  private static final SharedPublish PUBLISH =
      new SharedPublish(
          new MessageId("0190b8a0-0000-7000-8000-000000000001"), Binary.of("hello"), 0);

  @Test
  void the_first_packet_id_follows_the_last() {
    assertThat(Window.empty().packetIdAfter(0)).isEqualTo(1);
    assertThat(Window.empty().packetIdAfter(65_534)).isEqualTo(65_535);
    assertThat(Window.empty().packetIdAfter(65_535)).isEqualTo(1);
  }

  @Test
  void the_packet_ids_of_messages_in_flight_are_left_out() {
    var window = Window.empty().with(sent(65_535)).with(sent(1)).with(sent(3));

    assertThat(window.packetIdAfter(65_534)).isEqualTo(2);
    assertThat(window.packetIdAfter(2)).isEqualTo(4);
  }

  private static InFlight sent(int packetId) {
    return InFlight.again(new Unacknowledged(packetId, PUBLISH), 0);
  }
}
