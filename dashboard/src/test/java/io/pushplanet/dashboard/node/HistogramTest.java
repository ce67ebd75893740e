package io.pushplanet.dashboard.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.node.NodeFigures.Bucket;
import io.pushplanet.common.node.NodeFigures.Times;
import io.pushplanet.dashboard.node.Histogram.Bar;
import java.util.List;
import org.junit.jupiter.api.Test;

class HistogramTest {
  @Test
  void the_most_frequent_time_has_the_highest_bar_and_a_rare_one_can_be_seen() {
    var histogram =
        of(
            times(
                1_000_051,
                0.2,
                new Bucket(0.5, 1_000_000),
                new Bucket(1.0, 0),
                new Bucket(2.0, 50),
                new Bucket(null, 1)));

    assertThat(histogram.bars())
        .containsExactly(
            new Bar(0, 100, "0.50 ms", "up to 0.50 ms: 1,000,000"),
            new Bar(10, 0, "", "up to 1.0 ms: 0"),
            new Bar(20, 3, "", "up to 2.0 ms: 50"),
            new Bar(30, 3, "longer", "longer: 1"));
    assertThat(histogram.width()).isEqualTo(40);
    assertThat(histogram.described())
        .isEqualTo("A: up to 0.50 ms: 1,000,000; up to 2.0 ms: 50; longer: 1");
    assertThat(histogram.summary()).isEqualTo("p50 0.20 ms, p99 3.0 ms, longest 4.0 ms");
  }

  @Test
  void without_times_there_are_no_bars() {
    for (var histogram :
        List.of(
            of(null),
            of(times(0, 0.0)),
            of(times(0, 0.0, new Bucket(1.0, 0), new Bucket(null, 0))))) {
      assertThat(histogram.bars()).isEmpty();
    }
    assertThat(of(null).summary()).isEqualTo("not reported by this version");
    assertThat(of(times(0, 0.0)).summary()).isEqualTo("none yet");
  }

  @Test
  void a_node_of_an_older_version_reports_no_median() {
    assertThat(of(times(7, null)).summary()).isEqualTo("p50 -, p99 3.0 ms, longest 4.0 ms");
  }

  @Test
  void old_times_have_no_percentiles() {
    assertThat(of(new Times(7, 1, 0.0, 0, 0, List.of())).summary())
        .isEqualTo("none in the last minutes");
  }

  private static Histogram of(Times times) {
    return new Histogram("A", times);
  }

  private static Times times(long count, Double p50Millis, Bucket... buckets) {
    return new Times(count, 1, p50Millis, 3, 4, List.of(buckets));
  }
}
