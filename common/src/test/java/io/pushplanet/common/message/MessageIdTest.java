package io.pushplanet.common.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MessageIdTest {
  private final MutableClock clock = MutableClock.started();
  private final MessageIds ids = new MessageIds(clock, new Random(7));

  @Test
  void an_id_tells_when_and_on_which_day_it_was_made() {
    MessageId id = ids.next();

    assertThat(id.time()).isEqualTo(clock.instant());
    assertThat(id.day()).isEqualTo(LocalDate.of(2026, 11, 21));
  }

  @Test
  void ids_sort_by_time() {
    MessageId earlier = ids.next();
    clock.advance(Duration.ofMillis(1));
    MessageId later = ids.next();

    assertThat(earlier).isLessThan(later);
  }

  @Test
  void ids_sort_by_creation_even_when_the_clock_is_set_back_slightly() {
    List<MessageId> made = new ArrayList<>();

    for (int i = 0; i < 10_000; i++) {
      made.add(ids.next());
    }
    clock.advance(Duration.ofMillis(-900));
    made.add(ids.next());

    assertThat(made).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void parts_of_a_millisecond_tell_two_makers_ids_apart() {
    MessageIds other = new MessageIds(clock, new Random(8));
    for (int i = 0; i < 100; i++) {
      MessageId earlier = ids.next();
      clock.advance(Duration.ofNanos(1_000));
      MessageId later = other.next();
      clock.advance(Duration.ofNanos(1_000));

      assertThat(earlier).isLessThan(later);
    }
  }

  @Test
  void a_clock_that_was_far_ahead_does_not_keep_ids_ahead() {
    ids.next();
    clock.advance(Duration.ofHours(-1));

    assertThat(ids.next().time()).isEqualTo(clock.instant());
  }

  @Test
  void an_id_after_another_comes_before_those_of_the_next_millisecond() {
    MessageId first = ids.next();
    MessageId third = MessageIds.after(first, 2, 7);
    MessageId last = MessageIds.after(first, 4_095, 7);
    clock.advance(Duration.ofMillis(1));

    assertThat(List.of(first, third, last, ids.next())).isSorted().doesNotHaveDuplicates();
    assertThat(third.time()).isEqualTo(first.time());
  }

  @Test
  void anything_but_a_uuid_of_version_7_is_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MessageId("0190f4e0-0000-4000-8000-000000000000"));
    assertThatIllegalArgumentException().isThrownBy(() -> new MessageId("nonsense"));
  }

  @Test
  void the_last_day_of_an_id_is_the_last_that_mysql_knows() {
    MessageId last = new MessageId("e677d21f-dbff-7fff-bfff-ffffffffffff");

    assertThat(last.day()).isEqualTo(LocalDate.of(9999, 12, 31));
    assertThat(MessageId.isValid("e677d21f-dc00-7000-8000-000000000000")).isFalse();
    assertThat(MessageId.isValid("ffffffff-ffff-7fff-8fff-ffffffffffff")).isFalse();
  }
}
