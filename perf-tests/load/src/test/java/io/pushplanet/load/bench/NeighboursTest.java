package io.pushplanet.load.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class NeighboursTest {
  private static final long MILLISECOND = 1_000_000;

  @Test
  void what_happens_once_is_in_the_p99_of_all_and_not_in_the_usual_one() {
    List<Long> took = new ArrayList<>(Collections.nCopies(5 * Neighbours.WINDOW, MILLISECOND));
    for (int late = 0; late < Neighbours.WINDOW / 4; late++) {
      took.set(2 * Neighbours.WINDOW + late, 9 * MILLISECOND);
    }

    assertThat(Neighbours.P99.of(took)).isEqualTo(new Neighbours.P99(1, 9));
  }

  @Test
  void what_happens_in_every_window_is_usual() {
    List<Long> took = new ArrayList<>(Collections.nCopies(5 * Neighbours.WINDOW, MILLISECOND));
    for (int message = 0; message < took.size(); message += 50) {
      took.set(message, 9 * MILLISECOND);
    }

    assertThat(Neighbours.P99.of(took)).isEqualTo(new Neighbours.P99(9, 9));
  }

  @Test
  void of_few_there_is_only_one() {
    assertThat(Neighbours.P99.of(List.of(MILLISECOND, 3 * MILLISECOND)))
        .isEqualTo(new Neighbours.P99(1, 1));
    assertThat(Neighbours.P99.of(List.of())).isEqualTo(new Neighbours.P99(0, 0));
  }
}
