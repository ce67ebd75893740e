package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static final Options.Names NAMES =
      new Options.Names(Set.of("--detach"), Set.of("--state", "--mqtt-port"), Set.of("--set"));

  @Test
  void a_value_may_follow_an_equals_sign_or_stand_as_the_next_word() {
    Options options =
        parse("--state=a=b", "--mqtt-port", "1", "--set", "a=1=2", "--set=b=", "--detach");

    assertThat(options.value("--state")).contains("a=b");
    assertThat(options.value("--mqtt-port")).contains("1");
    assertThat(options.pairs("--set")).isEqualTo(Map.of("a", "1=2", "b", ""));
    assertThat(options.has("--detach")).isTrue();
  }

  @Test
  void a_misspelt_option_is_refused_and_the_right_one_is_named() {
    refused("--mqtt-prot=1", "there is no option --mqtt-prot; did you mean --mqtt-port?");
  }

  @Test
  void a_flag_takes_no_value_and_an_option_needs_one() {
    refused("--detach=yes", "takes no value");
    refused("--state", "needs a value");
    refused("--set", "needs a value");
    refused("--set=nothing", "needs KEY=VALUE");
    refused("--set==1", "needs KEY=VALUE");
  }

  @Test
  void an_option_given_twice_is_refused() {
    refused("--state=a --state a", "--state is given twice");
    refused("--detach --detach", "--detach is given twice");
    refused("--set=a=1 --set=b=1 --set a=2", "--set=a is given twice");
  }

  @Test
  void a_word_that_belongs_to_no_option_is_refused() {
    refused("--detach now", "'now' is neither an option nor the value of one");
    refused("-d", "'-d' is neither");
  }

  private static void refused(String arguments, String told) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> parse(arguments.split(" ")))
        .withMessageContaining(told)
        .satisfies(refusal -> assertThat(refusal.exitCode()).isEqualTo(ExitCode.USAGE));
  }

  private static Options parse(String... arguments) {
    return Options.parse(List.of(arguments), NAMES);
  }
}
