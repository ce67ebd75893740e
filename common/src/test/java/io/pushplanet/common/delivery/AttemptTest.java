package io.pushplanet.common.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class AttemptTest {
  private static final Instant AT = Instant.parse("2026-11-22T10:00:00Z");

  @Test
  void a_providers_long_words_fit_into_a_timeline() {
    Attempt attempt =
        new Attempt(
            Channel.FCM,
            AT,
            AttemptResult.REJECTED.word(),
            400,
            "R".repeat(60_000),
            "i".repeat(60_000),
            null,
            "d".repeat(60_000));

    assertThat(attempt.reason()).isEqualTo("R".repeat(Attempt.LONGEST_REASON));
    assertThat(attempt.providerId()).isEqualTo("i".repeat(Attempt.LONGEST_PROVIDER_ID));
    assertThat(attempt.detail()).isEqualTo("d".repeat(Attempt.LONGEST_DETAIL));
  }

  @Test
  void shortening_splits_no_surrogate_pair() {
    String words = "d".repeat(Attempt.LONGEST_DETAIL - 1);

    Attempt attempt =
        Attempt.rejected(Channel.FCM, AT, "INVALID_ARGUMENT").explained(words + "😀 no");

    assertThat(attempt.detail()).isEqualTo(words);
  }
}
