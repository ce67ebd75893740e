package io.pushplanet.dispatcher.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import io.pushplanet.dispatcher.session.SessionUpdates.Told;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ToldTest {
  private static final DeviceId DEVICE = new DeviceId("d1");
  private static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");

  private static RegisteredDevice seenAt(Instant at) {
    Registration registration =
        new Registration(
            Platform.ANDROID,
            new Registration.Channels(true, null, null, null, null),
            null,
            "en-GB",
            "UTC",
            List.of(),
            List.of(),
            "2");
    return new RegisteredDevice(
        DEVICE, registration, NOON.minusSeconds(60), NOON.minusSeconds(60), at);
  }

  private static Seen version(String version, Instant at) {
    return Seen.of(
        new DeviceKey(new AppId("shop"), DEVICE), at, new SessionUpdate(version, null, null));
  }

  @Test
  void an_update_newer_than_the_row_replaces_only_its_own_fields() {
    RegisteredDevice device =
        new Told(
                NOON.plusSeconds(9), List.of(version("3", NOON), version("4", NOON.plusSeconds(1))))
            .over(seenAt(NOON));

    assertThat(device.registration().appVersion()).isEqualTo("4");
    assertThat(device.registration().locale()).isEqualTo("en-GB");
    assertThat(device.seenAt()).isEqualTo(NOON.plusSeconds(1));
  }

  /// The update was read from Redis before the row, which has got a newer one meanwhile.
  @Test
  void an_update_older_than_the_row_is_ignored() {
    RegisteredDevice row = seenAt(NOON);

    assertThat(new Told(NOON.plusSeconds(9), List.of(version("1", NOON.minusMillis(1)))).over(row))
        .isEqualTo(row);
  }

  @Test
  void a_value_older_than_the_registration_is_ignored_in_a_newer_update() {
    long before = NOON.minusSeconds(61).toEpochMilli();
    long after = NOON.minusSeconds(59).toEpochMilli();
    Seen update =
        Seen.parse(
            "shop/d1",
            "%d\n3\nfr\n\n%d\n%d\n%d".formatted(NOON.toEpochMilli(), after, before, before));

    RegisteredDevice device = new Told(NOON, List.of(update)).over(seenAt(NOON.minusSeconds(60)));

    assertThat(device.registration().appVersion()).isEqualTo("3");
    assertThat(device.registration().locale()).isEqualTo("en-GB");
    assertThat(device.registration().timezone()).isEqualTo("UTC");
    assertThat(device.seenAt()).isEqualTo(NOON);
  }

  @Test
  void the_values_of_an_older_dispatcher_are_as_old_as_its_entry() {
    Seen update = Seen.parse("shop/d1", NOON.toEpochMilli() + "\n3\n\nAsia/Tokyo");

    RegisteredDevice device = new Told(NOON, List.of(update)).over(seenAt(NOON.minusSeconds(60)));

    assertThat(device.registration().appVersion()).isEqualTo("3");
    assertThat(device.registration().locale()).isEqualTo("en-GB");
    assertThat(device.registration().timezone()).isEqualTo("Asia/Tokyo");
  }
}
