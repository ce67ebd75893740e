package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Attempt;
import org.junit.jupiter.api.Test;

class ExplanationTest {
  @Test
  void it_is_one_line_without_control_characters() {
    assertThat(Explanation.of(" message.android.ttl:\r\n\tIllegal\u0000 \u202eduration "))
        .isEqualTo("message.android.ttl: Illegal duration");
    assertThat(Explanation.of("")).isNull();
    assertThat(Explanation.of("\n")).isNull();
  }

  @Test
  void a_token_in_it_is_left_out_and_a_fields_name_is_not() {
    assertThat(Explanation.of("Unknown token \"" + "ab12".repeat(16) + "\"."))
        .isEqualTo("Unknown token \"…\".");
    String field = "message.android.notification.default_light_settings";
    assertThat(Explanation.of(field + ": no")).isEqualTo(field + ": no");
  }

  @Test
  void a_long_one_is_cut() {
    assertThat(Explanation.of("word ".repeat(10_000)))
        .hasSize(Attempt.LONGEST_DETAIL)
        .startsWith("word word ")
        .endsWith("…");
    assertThat(Explanation.of("x".repeat(100_000))).isEqualTo("…");
  }
}
