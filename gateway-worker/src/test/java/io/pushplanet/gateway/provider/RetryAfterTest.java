package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryAfterTest {
  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "0, PT0S",
    "120, PT2M",
    "' 7 ', PT7S",
    "99999999999999, P1D",
    "'Sat, 21 Nov 2026 10:05:00 GMT', PT5M",
    "'Sat, 21 Nov 2026 09:00:00 GMT', PT0S"
  })
  void seconds_and_dates_are_understood(String header, String wait) {
    assertThat(RetryAfter.parse(header, NOW)).contains(Duration.parse(wait));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "soon", "-5", "1.5", "٣"})
  void an_unreadable_value_says_nothing(String header) {
    assertThat(RetryAfter.parse(header, NOW)).isEqualTo(Optional.empty());
  }

  @Test
  void a_far_day_is_taken_for_the_longest_wait() {
    assertThat(RetryAfter.parse("Fri, 01 Jan 2100 00:00:00 GMT", NOW)).contains(RetryAfter.LONGEST);
  }
}
