package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SessionMeterTest {
  @Test
  void rounds_count_by_their_median_once_four_have_warmed_up() {
    assertThat(SessionMeter.median(List.of(90.0, 80.0, 70.0, 60.0, 54.0, 41.0, 52.0, 40.0, 45.0)))
        .isEqualTo(45);
    assertThat(SessionMeter.median(List.of(90.0, 80.0, 70.0, 60.0, 41.0, 54.0, 44.0, 40.0)))
        .isEqualTo(42.5);
  }
}
