package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Passwords of a device that is deleted, or whose MQTT channel is switched off, are denied.
class PasswordDenialIT {
  private static final String WITHOUT_MQTT =
      "{\"platform\":\"android\",\"channels\":{\"mqtt\":false}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  /// Each of these registrations is deleted within a second.
  @Test
  void a_deletion_denies_all_earlier_passwords_and_no_later_one() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long denied = 0;
    for (int life = 0; life < 5; life++) {
      long first = shop.passwordEnds("d1");
      long last = shop.passwordEnds("d1");
      assertThat(first).isGreaterThan(denied);
      assertThat(dispatcher.deniedUntil(device)).isEqualTo(denied);

      assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

      denied = dispatcher.deniedUntil(device);
      assertThat(denied).isGreaterThanOrEqualTo(first).isGreaterThanOrEqualTo(last);
    }
    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(404);
    assertThat(dispatcher.deniedUntil(device)).as("of no device, nothing").isEqualTo(denied);
  }

  /// Such a password was given by a dispatcher whose clock is ahead, or when passwords were valid
  /// for longer.
  @Test
  void a_password_that_ends_later_than_one_of_today_is_denied_too() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = credential_ends + INTERVAL 20 SECOND WHERE app_id = ?",
        shop.app());

    shop.call("DELETE", "/devices/d1", "");

    assertThat(dispatcher.deniedUntil(device)).isEqualTo(ends + 20);
    assertThat(shop.passwordEnds("d1")).isEqualTo(ends + 21);
    assertThat(shop.passwordEnds("d1")).as("and no sooner").isEqualTo(ends + 21);
  }

  @Test
  void a_password_that_expires_late_does_not_delay_later_ones() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = credential_ends + INTERVAL 1 YEAR WHERE app_id = ?",
        shop.app());

    assertThat(shop.passwordEnds("d1")).isBetween(ends, ends + 600);
    shop.call("DELETE", "/devices/d1", "");
    assertThat(dispatcher.deniedUntil(device)).isGreaterThan(ends + 300 * 24 * 3_600);
  }

  @Test
  void mqtt_off_ends_the_passwords_and_mqtt_on_gives_a_valid_one() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long before = shop.passwordEnds("d1");

    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(dispatcher.deniedUntil(device)).as("at once").isGreaterThanOrEqualTo(before);
    assertThat(shop.passwordEnds("d1")).isGreaterThan(dispatcher.deniedUntil(device));
  }

  @Test
  void a_device_that_never_had_mqtt_has_no_password_to_deny() {
    shop.put("/devices/d1", WITHOUT_MQTT);
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).isEmpty();
  }

  @Test
  void a_device_that_once_had_mqtt_is_denied_when_deleted() {
    long before = shop.passwordEnds("d1");
    shop.put("/devices/d1", WITHOUT_MQTT);
    dispatcher.execute("DELETE FROM denied_devices WHERE app_id = ?", shop.app());
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).containsExactly("d1");
    assertThat(shop.passwordEnds("d1")).isGreaterThan(before);
  }

  /// A dispatcher of an earlier version may have given it a password.
  @Test
  void a_device_with_unknown_passwords_is_denied_when_deleted() {
    shop.put("/devices/d1", WITHOUT_MQTT);
    dispatcher.execute("UPDATE devices SET credential_ends = NULL WHERE app_id = ?", shop.app());
    shop.put("/devices/d1", WITHOUT_MQTT);

    assertThat(shop.call("DELETE", "/devices/d1", "").status()).isEqualTo(204);

    assertThat(denied()).containsExactly("d1");
  }

  @Test
  void a_password_of_a_dispatcher_that_notes_no_end_is_denied_too() {
    DeviceKey device = new DeviceKey(new AppId(shop.app()), new DeviceId("d1"));
    long ends = shop.passwordEnds("d1");
    dispatcher.execute(
        "UPDATE devices SET credential_ends = NULL, updated_at = updated_at + INTERVAL 20 SECOND WHERE app_id = ?",
        shop.app());

    shop.call("DELETE", "/devices/d1", "");

    assertThat(dispatcher.deniedUntil(device)).isEqualTo(ends + 20);
  }

  private List<String> denied() {
    return dispatcher.texts("SELECT device_id FROM denied_devices WHERE app_id = ?", shop.app());
  }
}
