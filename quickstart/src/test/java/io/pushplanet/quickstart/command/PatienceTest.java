package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PatienceTest {
  private final List<String> told = new ArrayList<>();
  private final List<Duration> asked = new ArrayList<>();
  private final Patience patience =
      new Patience(Duration.ofSeconds(3), Duration.ofSeconds(90), told::add);

  @Test
  void a_prompt_event_is_awaited_in_silence() {
    assertThat(await(1)).isTrue();

    assertThat(told).isEmpty();
    assertThat(asked).containsExactly(Duration.ofSeconds(3));
  }

  @Test
  void after_a_silence_it_says_once_what_it_waits_for_and_how_long() {
    assertThat(await(2)).isTrue();

    assertThat(told).containsExactly("  waiting for d1, 90 s at most");
    assertThat(asked).containsExactly(Duration.ofSeconds(3), Duration.ofSeconds(87));
  }

  @Test
  void an_event_that_does_not_come_is_given_up() {
    assertThat(await(3)).isFalse();

    assertThat(asked.stream().reduce(Duration::plus)).contains(Duration.ofSeconds(90));
  }

  /// An event that comes at the given question.
  private boolean await(int times) {
    return patience.await(
        () -> "d1",
        within -> {
          asked.add(within);
          return asked.size() == times;
        });
  }
}
