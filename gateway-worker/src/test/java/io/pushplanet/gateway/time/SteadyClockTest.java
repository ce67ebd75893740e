package io.pushplanet.gateway.fcm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.fcm.ProjectPace.Turn;
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

  /// Its places were a hundred milliseconds ahead: by the time of day they would have been an hour and a hundred.
  @Test
  void a_project_does_not_rest_for_as_long_as_the_time_of_day_is_set_back() {
    ProjectPace pace = new ProjectPace(600_000, clock);
    for (int message = 0; message < 50; message++) {
      pace.turn(Priority.NORMAL);
    }

    wall.advance(Duration.ofHours(-1));

    Duration wait =
        switch (pace.turn(Priority.NORMAL)) {
          case Turn.After(Duration after) -> after;
          case Turn.Rest(Duration rest) -> rest;
        };
    assertThat(wait).isLessThan(Duration.ofSeconds(10));
  }
}
