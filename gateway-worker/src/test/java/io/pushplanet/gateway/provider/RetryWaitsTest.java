package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.connection.Reply.Answered;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryWaitsTest {
  private static final Duration REST = Duration.ofSeconds(30);

  private final RetryWaits waits = new RetryWaits(MutableClock.started(), new Random(1));

  @ParameterizedTest
  @ValueSource(strings = {"0", "Sat, 21 Nov 2026 09:00:00 GMT", "soon"})
  void a_wait_of_zero_counts_as_none(String retryAfter) {
    Answered busy = new Answered(503, Map.of("retry-after", retryAfter), new byte[0]);

    assertThat(waits.asked(busy, "ServiceUnavailable")).isEmpty();
    assertThat(waits.askedOr(busy, "ServiceUnavailable", REST))
        .isBetween(REST, REST.multipliedBy(2));
  }

  @Test
  void a_wait_that_the_vendor_asks_for_is_kept() {
    Answered busy = new Answered(503, Map.of("retry-after", "7"), new byte[0]);

    assertThat(waits.askedOr(busy, "ServiceUnavailable", REST)).isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void a_proxys_page_is_waited_for_at_most_a_quarter_of_an_hour() {
    Answered page = new Answered(503, Map.of("retry-after", "86400"), new byte[0]);
    Answered brief = new Answered(503, Map.of("retry-after", "7"), new byte[0]);

    assertThat(waits.asked(page, "")).contains(Duration.ofMinutes(15));
    assertThat(waits.asked(brief, "")).contains(Duration.ofSeconds(7));
    assertThat(waits.asked(page, "ServiceUnavailable")).contains(Duration.ofDays(1));
    assertThat(waits.askedOr(page, "", REST)).isEqualTo(Duration.ofMinutes(15));
  }
}
