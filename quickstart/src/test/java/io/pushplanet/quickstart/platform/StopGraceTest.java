package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StopGraceTest {
  @Test
  void a_node_has_twenty_seconds_beyond_its_drain() {
    assertThat(StopGrace.of(Map.of())).isEqualTo(Duration.ofSeconds(30));
    assertThat(StopGrace.of(Map.of("cm.drain.longest-at-stop", "1m")))
        .isEqualTo(Duration.ofSeconds(80));
    assertThat(StopGrace.of(Map.of("cm.drain.longestAtStop", "PT1M")))
        .isEqualTo(Duration.ofSeconds(80));
  }

  @Test
  void a_longer_phase_of_springs_counts_too() {
    assertThat(
            StopGrace.of(
                Map.of(
                    "cm.drain.longest-at-stop", "1m",
                    "spring.lifecycle.timeout-per-shutdown-phase", "2m")))
        .isEqualTo(Duration.ofSeconds(140));
  }

  @Test
  void a_drain_of_no_time_and_a_text_that_is_none_leave_the_usual_time() {
    assertThat(StopGrace.of(Map.of("cm.drain.longest-at-stop", "0s")))
        .isEqualTo(Duration.ofSeconds(30));
    assertThat(StopGrace.of(Map.of("cm.drain.longest-at-stop", "${other}")))
        .isEqualTo(Duration.ofSeconds(30));
    assertThat(StopGrace.of(Map.of("cm.drain.per-second", "9000")))
        .isEqualTo(Duration.ofSeconds(30));
  }
}
