package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class PartialFrameTest {
  private final ByteBudget budget = new ByteBudget(1_000, null);
  private final KeptBytes counted = new AuthenticatedPeers(budget);
  private final PartialFrame frame =
      Objects.requireNonNull(
          PartialFrame.of(ByteBuffer.wrap(new byte[] {1, 2}), 100, 100, counted));

  @Test
  void more_of_it_makes_it_no_younger() {
    frame.append(ByteBuffer.wrap(new byte[] {3}), 200, counted);
    frame.flip();
    frame.keepRest(200);

    assertThat(frame.beganBefore(101)).isTrue();
    assertThat(frame.cameAfter(199)).isTrue();
  }

  @Test
  void another_begins_with_what_ended_the_one_before() {
    frame.append(ByteBuffer.wrap(new byte[] {3, 4}), 200, counted);
    frame.flip().get(new byte[3]);
    frame.keepRest(200);

    assertThat(frame.beganBefore(200)).isFalse();
    assertThat(frame.beganBefore(201)).isTrue();
  }

  @Test
  void it_grows_only_while_there_is_room() {
    assertThat(frame.append(ByteBuffer.allocate(1_000 - 2), 200, counted)).isTrue();
    assertThat(frame.capacity()).isEqualTo(1_000);

    var more = ByteBuffer.allocate(1_000);
    assertThat(frame.append(more, 200, counted)).isFalse();

    assertThat(more.position()).isZero();
    assertThat(budget.held()).isEqualTo(frame.capacity());
  }

  @Test
  void a_peer_that_was_not_read_gets_its_time_anew() {
    frame.restartDeadline(300);

    assertThat(frame.beganBefore(300)).isFalse();
  }
}
