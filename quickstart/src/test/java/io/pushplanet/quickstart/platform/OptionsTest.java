package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static final Set<String> FLAGS = Set.of("--detach");
  private static final Set<String> NAMED = Set.of("--state", "--mqtt-port");

  @Test
  void a_value_may_follow_an_equals_sign_or_stand_as_the_next_word() {
    Options options =
        Options.parse(List.of("--state=a=b", "--mqtt-port", "1", "word", "--detach"), FLAGS, NAMED);

    assertThat(options.value("--state")).contains("a=b");
    assertThat(options.value("--mqtt-port")).contains("1");
    assertThat(options.words()).containsExactly("word");
    assertThat(options.has("--detach")).isTrue();
  }

  @Test
  void a_misspelt_option_is_refused_and_the_right_one_is_named() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> Options.parse(List.of("--mqtt-prot=1"), FLAGS, NAMED))
        .withMessageContaining("--mqtt-prot")
        .withMessageContaining("did you mean --mqtt-port")
        .satisfies(refusal -> assertThat(refusal.exitCode()).isEqualTo(ExitCode.USAGE));
  }

  @Test
  void a_flag_takes_no_value_and_an_option_needs_one() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> Options.parse(List.of("--detach=yes"), FLAGS, NAMED))
        .withMessageContaining("takes no value");
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> Options.parse(List.of("--state"), FLAGS, NAMED))
        .withMessageContaining("needs a value");
  }
}
