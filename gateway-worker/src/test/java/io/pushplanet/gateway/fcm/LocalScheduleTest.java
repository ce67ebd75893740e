package io.pushplanet.gateway.fcm;

import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;

class LocalScheduleTest extends ScheduleContract {
  private final MutableClock clock = MutableClock.started();

  @Override
  Schedule schedule() {
    return new LocalSchedule(PER_MINUTE, clock);
  }

  @Override
  void pass(Duration time) {
    clock.advance(time);
  }
}
