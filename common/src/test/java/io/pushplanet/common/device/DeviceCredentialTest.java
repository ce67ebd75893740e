package io.pushplanet.common.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential.Verdict;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  @Test
  void a_password_of_the_former_master_key_is_good_until_it_expires() {
    MasterKey former = MasterKey.parse(MasterKey.generate(new SecureRandom()));
    MasterKey now = MasterKey.parse(MasterKey.generate(new SecureRandom()));
    String password = new DeviceCredential(former, clock).mint(SHOP, D1, Duration.ofDays(90));

    assertThat(
            new DeviceCredential(now.accepting(List.of(former)), clock).verify(SHOP, D1, password))
        .isInstanceOf(Verdict.Valid.class);
    assertThat(new DeviceCredential(now, clock).verify(SHOP, D1, password))
        .isEqualTo(new Verdict.Invalid());
  }

  @Test
  void the_expiry_cannot_be_moved() {
    String password = credential.mint(SHOP, D1, Duration.ofDays(1));
    String[] parts = password.split("\\.");
    String moved = parts[0] + "." + (Long.parseLong(parts[1]) + 1) + "." + parts[2];

    assertThat(credential.verify(SHOP, D1, moved)).isEqualTo(new Verdict.Invalid());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ".", "v1..", "v1.99999999999999999999.x", "v2.1.x", "v1.-1.x", "v1.1.x.y"})
  void rubbish_is_invalid(String password) {
    assertThat(credential.verify(SHOP, D1, password)).isEqualTo(new Verdict.Invalid());
  }
}
