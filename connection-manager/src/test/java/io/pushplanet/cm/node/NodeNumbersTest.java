package io.pushplanet.cm.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pushplanet.common.node.NodeFigures.Bucket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeNumbersTest {
  private final Timer timer =
      Timer.builder("some.time")
          .publishPercentileHistogram()
          .minimumExpectedValue(Duration.ofNanos(1 << 16))
          .register(new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));

  @Test
  void a_histogram_has_a_bucket_per_doubling_and_one_without_a_bound() {
    List<Bucket> buckets = NodeNumbers.buckets(timer.takeSnapshot());

    assertThat(buckets).hasSize(20).extracting(Bucket::count).containsOnly(0L);
    assertThat(buckets.getFirst().upToMillis()).isEqualTo(0.065536);
    assertThat(buckets.get(4).upToMillis()).isEqualTo(1.048576);
    assertThat(buckets.get(18).upToMillis()).isEqualTo(17_179.869184);
    assertThat(buckets.getLast().upToMillis()).isNull();
  }

  @Test
  void each_time_is_counted_in_one_bucket() {
    for (long micros : new long[] {1, 65, 66, 1_000, 1_050, 20_000_000, 90_000_000}) {
      timer.record(Duration.ofNanos(micros * 1_000));
    }

    assertThat(NodeNumbers.buckets(timer.takeSnapshot()))
        .filteredOn(bucket -> bucket.count() > 0)
        .containsExactly(
            new Bucket(0.065536, 2),
            new Bucket(0.131071, 1),
            new Bucket(1.048576, 1),
            new Bucket(2.097151, 1),
            new Bucket(null, 2));
  }
}
