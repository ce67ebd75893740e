package io.pushplanet.load.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AttackCountsTest {
  private final AttackCounts counts = new AttackCounts(640, 600, 10, 1);

  @Test
  void another_process_reads_the_same_counts() {
    assertThat(AttackCounts.parse(counts.text())).isEqualTo(counts);
  }

  @Test
  void parts_add_up() {
    assertThat(AttackCounts.NONE.plus(counts).plus(counts))
        .isEqualTo(new AttackCounts(1_280, 1_200, 20, 2));
  }
}
