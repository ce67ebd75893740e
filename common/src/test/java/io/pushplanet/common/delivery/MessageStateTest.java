package io.pushplanet.common.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessageStateTest {
  @ParameterizedTest
  @CsvSource({
    "false, false, 0, 0, accepted",
    "false, false, 3, 0, accepted",
    "false, true,  3, 0, accepted",
    "false, false, 0, 2, sending",
    "false, false, 3, 3, sending",
    "false, true,  3, 2, sending",
    "false, true,  3, 3, done",
    "false, true,  3, 4, done",
    "false, true,  0, 0, done",
    "true,  false, 3, 0, cancelled",
    "true,  true,  3, 2, cancelled",
    "true,  true,  3, 3, cancelled",
  })
  void a_state_follows_from_the_counts(
      boolean cancelled, boolean expanded, int recipients, int ended, String state) {
    assertThat(MessageState.of(cancelled, expanded, recipients, ended).word()).isEqualTo(state);
  }
}
