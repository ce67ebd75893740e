package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final Duration FIRST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofMillis(500);

  @Test
  void pauses_double_up_to_the_longest() {
    Backoff backoff = new Backoff(FIRST, LONGEST, half());

    List<Long> pauses = Stream.generate(backoff::next).limit(5).map(Duration::toMillis).toList();

    assertThat(pauses).containsExactly(100L, 200L, 400L, 500L, 500L);
  }

  @Test
  void a_reset_begins_with_the_first_pause_again() {
    Backoff backoff = new Backoff(FIRST, LONGEST, half());
    backoff.next();
    backoff.next();

    backoff.reset();

    assertThat(backoff.next()).isEqualTo(FIRST);
  }

  @Test
  void a_pause_lies_between_half_and_one_and_a_half_times_its_length() {
    Backoff backoff = new Backoff(FIRST, FIRST, new Random(7));

    List<Long> pauses =
        Stream.generate(backoff::next).limit(1_000).map(Duration::toMillis).toList();

    assertThat(pauses)
        .allMatch(millis -> millis >= 50 && millis < 150)
        .anyMatch(millis -> millis < 60)
        .anyMatch(millis -> millis > 140);
  }

  /// Its random numbers are half of their bound, which leaves each pause as long as it is.
  private static RandomGenerator half() {
    return new RandomGenerator() {
      @Override
      public long nextLong() {
        return 0;
      }

      @Override
      public long nextLong(long bound) {
        return bound / 2;
      }
    };
  }
}
