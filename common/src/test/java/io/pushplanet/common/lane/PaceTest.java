package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PaceTest {
  private static final long INTERVAL = 5;

  /// The clock may start anywhere, also just before its overflow.
  @ParameterizedTest
  @ValueSource(longs = {0, 1_000, -1_000, Long.MAX_VALUE - 7, Long.MIN_VALUE + 3})
  void a_few_go_at_once_and_then_one_in_each_interval(long start) {
    Pace pace = new Pace(Duration.ofNanos(INTERVAL), start);
    for (int round = 0; round < Pace.AT_ONCE; round++) {
      assertThat(pace.waitNanos(start)).isNotPositive();
      pace.begun(start);
    }
    for (int round = 1; round <= 3; round++) {
      long now = start + (round - 1) * INTERVAL;
      assertThat(pace.waitNanos(now)).isEqualTo(INTERVAL);
      assertThat(pace.waitNanos(now + 2)).isEqualTo(INTERVAL - 2);
      assertThat(pace.waitNanos(now + INTERVAL)).isNotPositive();
      pace.begun(now + INTERVAL);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - 7})
  void one_round_per_interval_never_waits(long start) {
    Pace pace = new Pace(Duration.ofNanos(INTERVAL), start);

    for (int round = 0; round < 100; round++) {
      long now = start + round * INTERVAL;
      assertThat(pace.waitNanos(now)).isNotPositive();
      pace.begun(now);
    }
  }

  /// Full rounds begin without a wait.
  @ParameterizedTest
  @ValueSource(longs = {0, Long.MAX_VALUE - 7})
  void the_next_round_waits_for_an_interval_however_many_did_not_wait(long now) {
    Pace pace = new Pace(Duration.ofNanos(INTERVAL), now);
    for (int round = 0; round < 1_000; round++) {
      pace.begun(now);
    }

    assertThat(pace.waitNanos(now)).isEqualTo(INTERVAL);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 1_000})
  void a_calm_restores_the_burst_and_no_more(int calm) {
    Pace pace = new Pace(Duration.ofNanos(INTERVAL), 0);
    for (int round = 0; round < Pace.AT_ONCE; round++) {
      pace.begun(0);
    }
    long now = calm * INTERVAL;

    int atOnce = 0;
    while (pace.waitNanos(now) <= 0) {
      pace.begun(now);
      atOnce++;
    }

    assertThat(atOnce).isEqualTo(Math.min(calm, Pace.AT_ONCE));
  }
}
