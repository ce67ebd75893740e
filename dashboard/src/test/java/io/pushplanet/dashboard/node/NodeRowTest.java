package io.pushplanet.dashboard.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.node.NodeFigures.Times;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NodeRowTest {
  private final NodeRow node =
      new NodeRow(
          new NodeLease(new NodeId("n1"), "10.0.0.1", 1884, 1883, 9083, 0, false, Instant.EPOCH),
          null);

  @Test
  void a_time_has_the_unit_that_suits_it() {
    assertThat(node.millis(times(9, 1.44, 3))).isEqualTo("1.4 ms");
    assertThat(node.millis(times(9, 42.4, 50))).isEqualTo("42 ms");
    assertThat(node.millis(times(9, 2_000, 3_000))).isEqualTo("2.0 s");
    assertThat(node.millis(times(9, 0.131, 3))).isEqualTo("0.13 ms");
    assertThat(node.millis(times(9, 0, 3))).isEqualTo("3.0 ms");
  }

  /// The count is of the time since the start; the percentile and the maximum are of the last
  /// minutes.
  @Test
  void where_nothing_was_measured_lately_there_is_no_time() {
    assertThat(node.millis(times(9, 0, 0))).isEqualTo("-");
    assertThat(node.millis(times(0, 0, 0))).isEqualTo("-");
    assertThat(node.millis(null)).isEqualTo("-");
  }

  @Test
  void a_node_that_has_refused_none_says_so() {
    assertThat(node.counts(Map.of())).isEqualTo("none");
    assertThat(node.counts(null)).isEqualTo("not reported by this version");
    assertThat(node.counts(Map.of("server_busy", 7L, "not_authorized", 1_200L)))
        .isEqualTo("not authorized 1,200, server busy 7");
  }

  private static Times times(long count, double p99Millis, double maxMillis) {
    return new Times(count, 1, 1.0, p99Millis, maxMillis, List.of());
  }
}
