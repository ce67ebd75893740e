package io.pushplanet.gateway.time;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SteadyClockTest {
  private final MutableClock wall = MutableClock.started();
  private final AtomicLong nanos = new AtomicLong(17);
  private final Clock clock = new SteadyClock(wall, nanos::get);

  @Test
  void goes_on_when_the_time_of_day_is_set_back() {
    Instant start = wall.instant();

    wall.advance(Duration.ofHours(-1));
    nanos.addAndGet(Duration.ofMillis(5).toNanos());

    assertThat(clock.instant()).isEqualTo(start.plusMillis(5));
  }
}
