package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Attempt;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExplanationTest {
  private static final List<String> NONE = List.of();

  @Test
  void it_is_one_line_without_control_characters() {
    assertThat(Explanation.of(" message.android.ttl:\r\n\tIllegal\u0000 \u202eduration ", NONE))
        .isEqualTo("message.android.ttl: Illegal duration");
    assertThat(Explanation.of("", NONE)).isNull();
    assertThat(Explanation.of("\n", NONE)).isNull();
  }

  @Test
  void a_token_in_it_is_left_out_and_a_fields_name_is_not() {
    assertThat(Explanation.of("Unknown token \"" + "ab12".repeat(16) + "\".", NONE))
        .isEqualTo("Unknown token \"…\".");
    String field = "message.android.notification.default_light_settings";
    assertThat(Explanation.of(field + ": no", NONE)).isEqualTo(field + ": no");
  }

  @Test
  void the_messages_tokens_are_left_out_however_short_they_are() {
    assertThat(
            Explanation.of(
                "Neither fid \"cX3pQ-_tRk2yN0aLbVw1Zs\" nor 'k1'.",
                List.of("k1", "cX3pQ-_tRk2yN0aLbVw1Zs")))
        .isEqualTo("Neither fid \"…\" nor '…'.");
  }

  @Test
  void a_long_one_is_cut() {
    assertThat(Explanation.of("word ".repeat(10_000), NONE))
        .hasSize(Attempt.LONGEST_DETAIL)
        .startsWith("word word ")
        .endsWith("…");
    assertThat(Explanation.of("xx " + "no 😀 ".repeat(1_000), NONE))
        .hasSize(Attempt.LONGEST_DETAIL - 1)
        .endsWith("no …");
    assertThat(Explanation.of("x".repeat(100_000), NONE)).isEqualTo("…");
  }
}
