package io.pushplanet.cm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import org.junit.jupiter.api.Test;

class DeniedPasswordCacheTest {
  private static final long ENDS = 2_000_000_000;
  private static final long NOW = Long.MAX_VALUE - 5;

  private final DeniedPasswordCache denied = new DeniedPasswordCache();

  @Test
  void a_password_that_ends_later_than_the_denied_one_is_not_denied() {
    denied.denied(device(1), ENDS, NOW);

    assertThat(denied.isDenied(device(1), ENDS - 1, NOW)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS, NOW)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS + 1, NOW)).isFalse();
    assertThat(denied.isDenied(device(2), ENDS, NOW)).isFalse();
  }

  /// The directory may answer two attempts in either order when one uses an older password.
  @Test
  void an_earlier_end_does_not_replace_a_later_one() {
    denied.denied(device(1), ENDS, NOW);
    denied.denied(device(1), ENDS - 1, NOW);

    assertThat(denied.isDenied(device(1), ENDS, NOW)).isTrue();
  }

  @Test
  void a_denial_is_forgotten_after_some_seconds() {
    denied.denied(device(1), ENDS, NOW);
    long later = NOW + DeniedPasswordCache.KNOWN_FOR.toNanos();

    assertThat(denied.isDenied(device(1), ENDS, later - 1)).isTrue();
    assertThat(denied.isDenied(device(1), ENDS, later)).isFalse();
  }

  @Test
  void the_cache_stays_within_its_limit() {
    for (int number = 0; number < 3 * DeniedPasswordCache.MAX; number++) {
      denied.denied(device(number), ENDS, NOW);
    }

    assertThat(denied.size()).isLessThanOrEqualTo(DeniedPasswordCache.MAX);
    assertThat(denied.isDenied(device(3 * DeniedPasswordCache.MAX - 1), ENDS, NOW)).isTrue();
  }

  private static DeviceKey device(int number) {
    return new DeviceKey(new AppId("shop"), new DeviceId("d" + number));
  }
}
