package io.pushplanet.gateway.fcm;

import io.pushplanet.common.testing.MutableClock;

class LocalScheduleTest extends ScheduleContract {
  @Override
  Schedule schedule() {
    return new LocalSchedule(PER_MINUTE, MutableClock.started());
  }
}
