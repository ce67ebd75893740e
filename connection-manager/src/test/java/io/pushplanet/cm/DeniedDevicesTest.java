package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import org.junit.jupiter.api.Test;

class DeniedDevicesTest {
  private static final long ENDS = 2_000_000_000;
  private static final long NOW = Long.MAX_VALUE - 5;

  private final DeniedDevices denied = new DeniedDevices();

  @Test
  void a_password_that_ends_later_than_the_denied_one_is_asked_for() {
    denied.denied(device(1), ENDS, NOW);

    assertThat(denied.isDenied(device(1), ENDS - 1, NOW)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS, NOW)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS + 1, NOW)).isFalse();
    assertThat(denied.isDenied(device(2), ENDS, NOW)).isFalse();
  }

  /// Two attempts, one by an older password, are answered in any order.
  @Test
  void a_lower_end_does_not_take_the_higher_ones_place() {
    denied.denied(device(1), ENDS, NOW);
    denied.denied(device(1), ENDS - 1, NOW);

    assertThat(denied.isDenied(device(1), ENDS, NOW)).isTrue();
  }

  @Test
  void after_some_seconds_it_is_asked_for_again() {
    denied.denied(device(1), ENDS, NOW);
    long later = NOW + DeniedDevices.KNOWN_FOR.toNanos();

    assertThat(denied.isDenied(device(1), ENDS, later - 1)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS, later)).isFalse();
  }

  @Test
  void however_many_are_denied_only_so_many_are_remembered() {
    for (int number = 0; number < 3 * DeniedDevices.MOST; number++) {
      denied.denied(device(number), ENDS, NOW);
    }

    assertThat(denied.size()).isLessThanOrEqualTo(DeniedDevices.MOST);
    assertThat(denied.isDenied(device(3 * DeniedDevices.MOST - 1), ENDS, NOW)).isTrue();
  }

  private static DeviceKey device(int number) {
    return new DeviceKey(new AppId("shop"), new DeviceId("d" + number));
  }
}
