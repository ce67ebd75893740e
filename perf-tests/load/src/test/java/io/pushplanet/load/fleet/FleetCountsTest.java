package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FleetCountsTest {
  private static final FleetCounts COUNTS = new FleetCounts(6, 5, 44, 3, 2, 1_000_000_000_000L, 7);

  @Test
  void another_process_reads_the_counts() {
    assertThat(FleetCounts.parse(COUNTS.text())).isEqualTo(COUNTS);
  }

  @Test
  void two_fleets_together_have_the_sum_of_each_count() {
    assertThat(COUNTS.plus(new FleetCounts(1, 2, 3, 4, 5, 6, 7)))
        .isEqualTo(new FleetCounts(7, 7, 47, 7, 7, 1_000_000_000_006L, 14));
  }

  @Test
  void messages_that_did_not_come_or_came_again_are_missed() {
    FleetCounts counts = new FleetCounts(1, 1, 1, 0, 0, 10, 2);

    assertThat(counts.missed(10)).isEqualTo(2);
    assertThat(counts.missed(13)).isEqualTo(5);
    assertThat(counts.missed(9)).isEqualTo(3);
  }
}
