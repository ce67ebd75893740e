package io.pushplanet.cm.transport.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DeviceRatesTest {
  private static final long LONG = Duration.ofHours(1).toNanos();

  @Test
  void a_devices_next_connection_continues_its_spent_rate() {
    var rates = new DeviceRates(1, 1, 0, 42);

    spend(rates, device("a", "d1"));

    assertThat(rates.of(device("a", "d1")).isRested(0)).isFalse();
    assertThat(rates.of(device("a", "d2")).isRested(0)).isTrue();
    assertThat(rates.of(device("b", "d1")).isRested(0)).isTrue();
  }

  /// An attacker may choose ids.
  @Test
  void a_device_whose_hash_code_is_that_of_another_does_not_spend_for_it() {
    var one = device("a", "phone-Aa");
    var other = device("a", "phone-BB");
    var elsewhere = device("b", "phone-Ab");
    assertThat(other).hasSameHashCodeAs(one);

    for (long seed = 0; seed < 100; seed++) {
      var rates = new DeviceRates(1, 1, 0, seed);
      spend(rates, one);
      assertThat(rates.of(other).isRested(0)).isTrue();
      assertThat(rates.of(elsewhere).isRested(0)).isTrue();
      assertThat(rates.of(one).isRested(0)).isFalse();
    }
  }

  /// The boundary between app and device is part of the name.
  @Test
  void devices_of_two_apps_whose_ids_read_the_same_together_are_two() {
    for (long seed = 0; seed < 100; seed++) {
      var rates = new DeviceRates(1, 1, 0, seed);
      spend(rates, device("ab", "c"));
      assertThat(rates.of(device("a", "bc")).isRested(0)).isTrue();
    }
  }

  private static void spend(DeviceRates rates, DeviceKey device) {
    var rate = rates.of(device);
    rate.spend(LONG);
    rates.keep(device, rate);
  }

  private static DeviceKey device(String app, String device) {
    return new DeviceKey(new AppId(app), new DeviceId(device));
  }
}
