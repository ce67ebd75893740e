package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DetachedWindowsTest {
  private static final int HOUR = 3_600;
  private static final MessageId MESSAGE = new MessageId("0190b8a0-0000-7000-8000-000000000001");

  private final MutableClock clock = MutableClock.started();
  private final DetachedWindows windows = new DetachedWindows(clock);

  @Test
  void a_window_is_there_for_the_devices_very_next_connection_only() {
    var left = lasting(Duration.ofHours(1));
    windows.keep(device(1), 7, HOUR, left);
    windows.keep(device(2), 7, HOUR, left);

    assertThat(windows.take(device(1), 7)).isEqualTo(left);
    assertThat(windows.take(device(1), 7)).isEmpty();
    assertThat(windows.take(device(2), 8)).as("it was elsewhere").isEmpty();
    assertThat(windows.take(device(2), 7)).isEmpty();
  }

  @Test
  void a_device_without_unacknowledged_messages_leaves_no_window() {
    windows.keep(device(1), 7, HOUR, lasting(Duration.ofHours(1)));
    windows.keep(device(1), 8, HOUR, List.of());

    assertThat(windows.take(device(1), 8)).isEmpty();
  }

  @Test
  void a_window_ends_with_its_session() {
    windows.keep(device(1), 7, HOUR, lasting(Duration.ofDays(1)));
    clock.advance(Duration.ofSeconds(HOUR + 1));

    assertThat(windows.take(device(1), 7)).isEmpty();
  }

  @Test
  void a_window_ends_with_the_last_of_its_messages() {
    var left =
        List.of(lasting(Duration.ofMinutes(1)).getFirst(), lasting(Duration.ofHours(1)).getFirst());
    windows.keep(device(1), 7, 2 * HOUR, left);
    windows.keep(device(2), 7, 2 * HOUR, left);

    clock.advance(Duration.ofMinutes(2));
    assertThat(windows.take(device(1), 7)).isEqualTo(left);
    clock.advance(Duration.ofHours(1));
    assertThat(windows.take(device(2), 7)).isEmpty();
  }

  @Test
  void the_oldest_window_is_dropped_when_there_are_too_many() {
    var left = lasting(Duration.ofHours(1));
    for (int number = 0; number < DetachedWindows.MAX_DEVICES; number++) {
      windows.keep(device(number), 7, HOUR, left);
    }
    windows.keep(device(0), 8, HOUR, left);

    windows.keep(device(-1), 7, HOUR, left);

    assertThat(windows.take(device(0), 8)).as("it was here again").isEqualTo(left);
    assertThat(windows.take(device(1), 7)).isEmpty();
    assertThat(windows.take(device(2), 7)).isEqualTo(left);
  }

  private List<Unacknowledged> lasting(Duration time) {
    long expiresAtMillis = clock.instant().plus(time).toEpochMilli();
    return List.of(
        new Unacknowledged(1, new SharedPublish(MESSAGE, Binary.of("hello"), expiresAtMillis)));
  }

  private static DeviceKey device(int number) {
    return new DeviceKey(new AppId("shop"), new DeviceId("d" + number));
  }
}
