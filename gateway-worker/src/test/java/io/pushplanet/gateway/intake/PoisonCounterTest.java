package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;

class PoisonCounterTest {
  private static final Throwable BUG = new IllegalStateException(new NullPointerException());

  private final PoisonCounter counter = new PoisonCounter();

  @Test
  void a_message_is_poisonous_at_its_fifth_bug_and_then_counts_anew() {
    for (int round = 0; round < 2; round++) {
      for (int failure = 1; failure < PoisonCounter.MAX; failure++) {
        assertThat(counter.tooMany(message("a"), BUG)).isFalse();
      }
      assertThat(counter.tooMany(message("a"), BUG)).isTrue();
    }
  }

  @Test
  void each_message_has_a_count_of_its_own() {
    for (int failure = 1; failure < PoisonCounter.MAX; failure++) {
      assertThat(counter.tooMany(message("a"), BUG)).isFalse();
    }

    assertThat(counter.tooMany(message("b"), BUG)).isFalse();
    assertThat(counter.tooMany(message("a"), BUG)).isTrue();
  }

  @Test
  void the_message_that_has_not_failed_for_longest_is_forgotten_when_there_are_too_many() {
    for (int failure = 1; failure < PoisonCounter.MAX; failure++) {
      counter.tooMany(message("old"), BUG);
    }
    for (int failure = 1; failure < PoisonCounter.MAX; failure++) {
      counter.tooMany(message("young"), BUG);
    }
    for (int other = 1; other < PoisonCounter.MAX_REMEMBERED; other++) {
      counter.tooMany(message("other-" + other), BUG);
    }

    assertThat(counter.tooMany(message("young"), BUG)).isTrue();
    assertThat(counter.tooMany(message("old"), BUG)).isFalse();
  }

  @ParameterizedTest
  @MethodSource
  void a_bug_or_a_row_that_the_database_never_takes_counts(Throwable failure) {
    assertThat(isCounted(failure)).isTrue();
  }

  static Stream<Throwable> a_bug_or_a_row_that_the_database_never_takes_counts() {
    return Stream.of(
        new NullPointerException(),
        new IllegalStateException("a parcel", new IndexOutOfBoundsException()),
        new StackOverflowError(),
        new DataIntegrityViolationException("too long", new IllegalStateException()));
  }

  @ParameterizedTest
  @MethodSource
  void a_server_that_is_away_is_waited_for_however_long(Throwable failure) {
    assertThat(isCounted(failure)).isFalse();
  }

  static Stream<Throwable> a_server_that_is_away_is_waited_for_however_long() {
    return Stream.of(
        new DataAccessResourceFailureException("MySQL is away"),
        new IllegalStateException("not durable"),
        new OutOfMemoryError(),
        new NoClassDefFoundError());
  }

  private boolean isCounted(Throwable failure) {
    for (int time = 1; time < PoisonCounter.MAX; time++) {
      assertThat(counter.tooMany(message("a"), failure)).isFalse();
    }
    return counter.tooMany(message("a"), failure);
  }

  private static byte[] message(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
