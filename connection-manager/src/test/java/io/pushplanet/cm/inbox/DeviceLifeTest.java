package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Many lives of one device. The build always runs the same seeds; `-Dfrom=N` runs others,
/// `-Dseed=N` runs one of them and prints its story.
class DeviceLifeTest {
  private static final int LIVES = 300;

  @Test
  void an_older_message_is_never_passed_and_none_is_lost_whichever_way_they_come() {
    var given = Long.getLong("seed");
    if (given != null) {
      assertThat(DeviceLife.violations(given)).as("seed %d", given).isEmpty();
      return;
    }
    long from = Long.getLong("from", 1);
    for (long seed = from; seed < from + LIVES; seed++) {
      assertThat(DeviceLife.violations(seed)).as("live it again with -Dseed=%d", seed).isEmpty();
    }
  }
}
