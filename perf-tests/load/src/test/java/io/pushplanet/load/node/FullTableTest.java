package io.pushplanet.load.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FullTableTest {
  @Test
  void figures_are_pairs_of_a_name_and_a_number() {
    assertThat(FullTable.figures("sessions=1000 resident_bytes=77\n"))
        .containsEntry("sessions", 1_000L)
        .containsEntry("resident_bytes", 77L);
  }

  @Test
  void anything_else_ends_the_measurement() {
    assertThatThrownBy(() -> FullTable.figures("Exception in thread main"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Exception in thread main");
  }
}
