package io.pushplanet.common.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.ExpiringToken.Verdict;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DeviceCredentialTest {
  private static final AppId SHOP = new AppId("shop");
  private static final DeviceId D1 = new DeviceId("d1");

  private final MutableClock clock = MutableClock.started();
  private final DeviceCredential credential =
      new DeviceCredential(MasterKey.parse(MasterKey.generate(new SecureRandom())), clock);

  @Test
  void a_password_is_valid_for_its_device_until_it_expires() {
    String password = credential.mint(SHOP, D1, Duration.ofDays(90));
    long ends = DeviceCredential.end(clock.instant(), Duration.ofDays(90));

    assertThat(credential.verify(SHOP, D1, password)).isEqualTo(new Verdict.Valid(ends));
    assertThat(credential.mint(SHOP, D1, ends)).isEqualTo(password);
    clock.advance(Duration.ofDays(90));
    assertThat(credential.verify(SHOP, D1, password)).isEqualTo(new Verdict.Expired());
  }

  @Test
  void a_password_is_worth_nothing_for_another_device_or_app() {
    String password = credential.mint(SHOP, D1, Duration.ofDays(90));

    assertThat(credential.verify(SHOP, new DeviceId("d2"), password))
        .isEqualTo(new Verdict.Invalid());
    assertThat(credential.verify(new AppId("bank"), D1, password)).isEqualTo(new Verdict.Invalid());
  }

  /// Devices keep their passwords over upgrades.
  @Test
  void a_password_keeps_its_form() {
    var known =
        new DeviceCredential(
            MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), clock);

    assertThat(known.mint(SHOP, D1, Duration.ofDays(90)))
        .isEqualTo("v1.1803031200.xR0Cvy5FsWAP8EGf45PDmV6jCCoN7by49QyX8JgdvUA");
  }
}
