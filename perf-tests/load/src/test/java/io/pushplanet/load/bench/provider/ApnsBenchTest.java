package io.pushplanet.load.bench.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ApnsBenchTest {
  /// As of a good run.
  private final Map<String, Long> figures = new HashMap<>();

  ApnsBenchTest() {
    for (String fault : List.of("goaway", "refused", "rst", "silent")) {
      for (String none : List.of("failed", "hung", "never_begun", "twice")) {
        figures.put(fault + "_" + none, 0L);
      }
      figures.put(fault + "_answered", 6_000L);
    }
    figures.putAll(Map.of("rst_failed", 36L, "rst_answered", 5_964L));
    figures.putAll(Map.of("silent_failed", 500L, "silent_answered", 5_500L));
    figures.put("silent_left_after_millis", 2_850L);
  }

  @Test
  void requests_that_were_reset_or_under_way_may_fail() {
    assertThat(ApnsBench.outlives(figures)).isTrue();
  }

  @Test
  void each_notification_must_be_begun() {
    figures.put("silent_never_begun", 1L);

    assertThat(ApnsBench.outlives(figures)).isFalse();
  }

  @Test
  void most_notifications_must_be_answered_after_a_fault() {
    figures.putAll(Map.of("silent_failed", 4_000L, "silent_answered", 2_000L));

    assertThat(ApnsBench.outlives(figures)).isFalse();
  }

  @Test
  void failures_are_counted_over_all_loads() {
    assertThat(FullSpeed.failed(Map.of("c1_f100_failed", 2L, "far_c1_f900_failed", 1L, "x", 9L)))
        .isEqualTo(3);
  }
}
