package io.pushplanet.common.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
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
  void ids_of_one_millisecond_differ() {
    Set<MessageId> made = new HashSet<>();

    for (int i = 0; i < 10_000; i++) {
      made.add(ids.next());
    }

    assertThat(made).hasSize(10_000);
  }

  @Test
  void what_is_not_a_uuid_of_version_7_is_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new MessageId("0190f4e0-0000-4000-8000-000000000000"));
    assertThatIllegalArgumentException().isThrownBy(() -> new MessageId("nonsense"));
  }

  @Test
  void the_last_day_an_id_can_be_of_is_the_last_that_mysql_knows() {
    MessageId last = new MessageId("e677d21f-dbff-7fff-bfff-ffffffffffff");

    assertThat(last.day()).isEqualTo(LocalDate.of(9999, 12, 31));
    assertThat(MessageId.isValid("e677d21f-dc00-7000-8000-000000000000")).isFalse();
    assertThat(MessageId.isValid("ffffffff-ffff-7fff-8fff-ffffffffffff")).isFalse();
  }
}
