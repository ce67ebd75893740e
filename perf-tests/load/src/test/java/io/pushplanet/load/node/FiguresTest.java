package io.pushplanet.load.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FiguresTest {
  @Test
  void figures_are_pairs_of_a_name_and_a_number() {
    assertThat(Figures.parse("sessions=1000 resident_bytes=77\n"))
        .containsEntry("sessions", 1_000L)
        .containsEntry("resident_bytes", 77L);
  }

  @Test
  void anything_else_ends_the_measurement() {
    assertThatThrownBy(() -> Figures.parse("Exception in thread main"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no name=number pairs: Exception in thread main");
  }
}
