package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class PartialFrameTest {
  private final PartialFrame frame = new PartialFrame(ByteBuffer.wrap(new byte[] {1, 2}), 100, 100);

  @Test
  void more_of_it_makes_it_no_younger() {
    frame.append(ByteBuffer.wrap(new byte[] {3}), 200);
    frame.flip();
    frame.keepRest(200);

    assertThat(frame.beganBefore(101)).isTrue();
    assertThat(frame.cameAfter(199)).isTrue();
  }

  @Test
  void another_begins_with_what_ended_the_one_before() {
    frame.append(ByteBuffer.wrap(new byte[] {3, 4}), 200);
    frame.flip().get(new byte[3]);
    frame.keepRest(200);

    assertThat(frame.beganBefore(200)).isFalse();
    assertThat(frame.beganBefore(201)).isTrue();
  }

  @Test
  void a_peer_that_was_not_read_gets_its_time_anew() {
    frame.restartDeadline(300);

    assertThat(frame.beganBefore(300)).isFalse();
  }
}
