package io.pushplanet.dashboard.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.node.NodeFigures.Times;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class NodeRowTest {
  private final NodeRow node =
      new NodeRow(
          new NodeLease(new NodeId("n1"), "10.0.0.1", 1884, 1883, 9083, 0, false, Instant.EPOCH),
          null);

  @Test
  void a_time_has_the_unit_that_suits_it() {
    assertThat(node.millis(new Times(9, 1, 1.44, 3))).isEqualTo("1.4 ms");
    assertThat(node.millis(new Times(9, 1, 42.4, 50))).isEqualTo("42 ms");
    assertThat(node.millis(new Times(9, 1, 2_000, 3_000))).isEqualTo("2.0 s");
    assertThat(node.millis(new Times(9, 1, 0, 3))).isEqualTo("3.0 ms");
  }

  /// The count is of the time since the start; the percentile and the maximum are of the last
  /// minutes.
  @Test
  void where_nothing_was_measured_lately_there_is_no_time() {
    assertThat(node.millis(new Times(9, 1, 0, 0))).isEqualTo("-");
    assertThat(node.millis(new Times(0, 0, 0, 0))).isEqualTo("-");
    assertThat(node.millis(null)).isEqualTo("-");
  }
}
