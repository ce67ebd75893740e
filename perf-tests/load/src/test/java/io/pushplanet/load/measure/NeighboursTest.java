package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class NeighboursTest {
  private static final long MILLISECOND = 1_000_000;

  @Test
  void a_single_event_is_in_the_overall_p99_and_not_in_the_usual_one() {
    List<Long> took = new ArrayList<>(Collections.nCopies(5 * Neighbours.WINDOW, MILLISECOND));
    for (int late = 0; late < Neighbours.WINDOW / 4; late++) {
      took.set(2 * Neighbours.WINDOW + late, 9 * MILLISECOND);
    }

    assertThat(Neighbours.P99.of(took)).isEqualTo(new Neighbours.P99(1, 9, 9));
  }

  @Test
  void an_event_in_every_window_is_usual() {
    List<Long> took = new ArrayList<>(Collections.nCopies(5 * Neighbours.WINDOW, MILLISECOND));
    for (int message = 0; message < took.size(); message += 50) {
      took.set(message, 9 * MILLISECOND);
    }

    assertThat(Neighbours.P99.of(took)).isEqualTo(new Neighbours.P99(9, 9, 9));
  }

  @Test
  void messages_withheld_while_a_node_stood_still_count() {
    List<Long> took = new ArrayList<>(Collections.nCopies(12_000, MILLISECOND));
    for (int stall = 0; stall < 3; stall++) {
      Neighbours.add(took, 2_000 * MILLISECOND);
    }

    Neighbours.P99 p99 = Neighbours.P99.of(took);

    assertThat(took).hasSize(12_000 + 3 * 666);
    assertThat(p99.usual()).isEqualTo(1);
    assertThat(p99.overall()).isGreaterThan(1_800);
    assertThat(p99.longest()).isEqualTo(2_000);
  }

  @Test
  void a_message_that_was_in_time_for_the_next_one_stands_alone() {
    List<Long> took = new ArrayList<>();

    Neighbours.add(took, 2 * Neighbours.INTERVAL_NANOS - 1);
    assertThat(took).hasSize(1);

    Neighbours.add(took, 2 * Neighbours.INTERVAL_NANOS);
    assertThat(took).endsWith(Neighbours.INTERVAL_NANOS);
  }

  @Test
  void a_few_messages_have_one_window() {
    assertThat(Neighbours.P99.of(List.of(MILLISECOND, 3 * MILLISECOND)))
        .isEqualTo(new Neighbours.P99(1, 1, 3));
    assertThat(Neighbours.P99.of(List.of())).isEqualTo(new Neighbours.P99(0, 0, 0));
  }
}
