package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class UnwritableTest {
  private final Unwritable unwritable = new Unwritable();

  @Test
  void an_event_that_fails_while_others_are_written_has_its_last_try() {
    for (int tried = 1; tried < Unwritable.MOST_TRIES; tried++) {
      assertThat(unwritable.failedAlone(uplink(1))).isFalse();
      unwritable.wrote();
    }

    assertThat(unwritable.failedAlone(uplink(2))).isFalse();
    assertThat(unwritable.failedAlone(uplink(1))).isTrue();
  }

  @Test
  void while_nothing_is_written_no_event_is_given_up() {
    for (int tried = 0; tried < 3 * Unwritable.MOST_TRIES; tried++) {
      assertThat(unwritable.failedAlone(uplink(1))).isFalse();
    }
  }

  @Test
  void only_so_many_are_remembered() {
    for (int tried = 1; tried < Unwritable.MOST_TRIES; tried++) {
      unwritable.failedAlone(uplink(0));
      unwritable.wrote();
    }
    for (int other = 1; other <= Unwritable.MOST_REMEMBERED; other++) {
      unwritable.failedAlone(uplink(other));
    }

    assertThat(unwritable.failedAlone(uplink(0))).isFalse();
  }

  private static DeliveryEvent uplink(int number) {
    return new DeliveryEvent.Uplink(
        new AppId("shop"), Instant.EPOCH, new DeviceId("d1"), "uplink-" + number, new byte[] {1});
  }
}
