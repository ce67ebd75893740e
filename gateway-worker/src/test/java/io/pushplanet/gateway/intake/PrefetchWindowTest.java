package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PrefetchWindowTest {
  private static final int ONE_PUSH = 1_000;

  private final AtomicInteger room = new AtomicInteger(4_096);
  private final PrefetchWindow window =
      new PrefetchWindow(new Subscription("queue", 32, 4_096, room::get, (_, _, _) -> List.of()));

  private void take(int messages, int bytes) {
    for (int i = 0; i < messages; i++) {
      window.take(bytes, false);
    }
  }

  private void answer(int messages, int bytes) {
    for (int i = 0; i < messages; i++) {
      window.answered(bytes);
    }
  }

  /// Takes as many messages as the window allows, until it stops growing.
  private void fill(int bytes) {
    int before = 0;
    while (window.size() > before) {
      take(window.size() - before, bytes);
      before = window.size();
      window.look(false);
    }
  }

  @Test
  void single_pushes_fill_the_whole_lane() {
    fill(ONE_PUSH);

    assertThat(window.size()).isEqualTo(4_096);
  }

  @Test
  void it_grows_no_further_than_the_handler_has_room() {
    take(32, 64 * ONE_PUSH);
    room.set(2_048);
    assertThat(window.look(false)).isEqualTo(64);
    take(32, 64 * ONE_PUSH);
    room.set(0);

    assertThat(window.look(false)).isEqualTo(64);
  }

  @Test
  void it_does_not_grow_while_less_than_three_quarters_are_in_hand() {
    take(23, ONE_PUSH);

    assertThat(window.look(false)).isEqualTo(32);
    take(1, ONE_PUSH);
    assertThat(window.look(false)).isEqualTo(64);
  }

  @Test
  void large_messages_leave_it_small() {
    take(32, (int) (PrefetchWindow.MAX_BYTES / 32));

    assertThat(window.look(false)).isEqualTo(32);
  }

  @Test
  void messages_that_become_large_shrink_it_at_once() {
    fill(ONE_PUSH);
    answer(100, ONE_PUSH);
    take(29, 1_000_000);

    assertThat(window.take(ONE_PUSH, true)).isTrue();
    assertThat(window.take(1_000_000, true)).isFalse();
    assertThat(window.take(1_000_000, false)).isTrue();
    assertThat(window.look(false)).isEqualTo(32);
  }

  @Test
  void it_does_not_grow_beyond_what_messages_of_this_size_allow() {
    int aboveHalf = (int) (PrefetchWindow.MAX_BYTES / 60);
    take(24, aboveHalf);
    assertThat(window.look(false)).isEqualTo(32);

    answer(24, aboveHalf);
    take(24, (int) (PrefetchWindow.MAX_BYTES / 64));
    assertThat(window.look(false)).isEqualTo(64);
  }

  @Test
  void messages_beyond_the_window_are_taken_up_to_twice_its_bytes() {
    take(32, (int) (PrefetchWindow.MAX_BYTES / 32));

    assertThat(window.take(1_000_000, true)).isTrue();
    assertThat(window.look(false)).isEqualTo(32);
  }

  @Test
  void many_recipients_in_few_bytes_shrink_it_too() {
    fill(ONE_PUSH);
    room.set(-4_096);

    assertThat(window.look(false)).isEqualTo(32);
  }

  @Test
  void it_does_not_grow_while_resting_or_right_after_a_failure() {
    take(32, ONE_PUSH);

    assertThat(window.look(true)).isEqualTo(32);
    window.gaveBack();
    assertThat(window.look(false)).isEqualTo(32);
    assertThat(window.look(false)).isEqualTo(64);
  }

  @Test
  void it_halves_in_a_calm_down_to_its_smallest_size() {
    fill(ONE_PUSH);
    answer(4_000, ONE_PUSH);

    for (int look = 1; look < PrefetchWindow.CALM; look++) {
      assertThat(window.look(false)).isEqualTo(4_096);
    }
    assertThat(window.look(false)).isEqualTo(2_048);
    answer(96, ONE_PUSH);
    for (int look = 0; look < 20 * PrefetchWindow.CALM; look++) {
      window.look(false);
    }
    assertThat(window.size()).isEqualTo(32);
  }

  @Test
  void it_keeps_its_size_without_a_larger_most_prefetch() {
    PrefetchWindow fixed = new PrefetchWindow(new Subscription("queue", 4, (_, _, _) -> List.of()));
    for (int i = 0; i < 4; i++) {
      fixed.take(ONE_PUSH, false);
    }

    assertThat(fixed.look(false)).isEqualTo(4);
  }
}
