package io.pushplanet.load.bench.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.load.bench.provider.QuotaBench.Sample;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class QuotaBenchTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void the_used_quota_is_measured_from_the_ramp_to_nine_tenths() {
    // 10 per second in the ramp of a minute, 89 after it, and 500 at once at the end; 10 high ones
    // each second.
    List<Sample> samples =
        IntStream.rangeClosed(0, 100)
            .mapToObj(second ->
                new Sample(
                    second * SECOND,
                    second <= 60 ? second * 10 : second < 100 ? 600 + (second - 60) * 89 : 5_000,
                    1_000 + second * 10))
            .toList();

    assertThat(QuotaBench.used(samples, 5_000, 6_000)).hasValue(99.0);
  }

  @Test
  void a_broadcast_shorter_than_the_ramp_has_no_figure() {
    List<Sample> samples = List.of(new Sample(0, 0, 0), new Sample(5 * SECOND, 200, 50));

    assertThat(QuotaBench.used(samples, 200, 60_000)).isEmpty();
  }
}
