package io.pushplanet.dispatcher.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The newest update of a device.
public record Seen(
    DeviceKey key,
    Instant at,
    @Nullable String appVersion,
    @Nullable String locale,
    @Nullable String timezone) {
  /// @param device `app/device`
  /// @param held time, version, locale and time zone, each on a line of its own
  static Seen parse(String device, String held) {
    String[] parts = held.split("\n", -1);
    int slash = device.indexOf('/');
    return new Seen(
        new DeviceKey(
            new AppId(device.substring(0, slash)), new DeviceId(device.substring(slash + 1))),
        Instant.ofEpochMilli(Long.parseLong(parts[0])),
        given(parts[1]),
        given(parts[2]),
        given(parts[3]));
  }

  private static @Nullable String given(String part) {
    return part.isEmpty() ? null : part;
  }

  /// The device with this update. An update that is older than the row changes nothing: it has been
  /// written, or a later registration has replaced it. When the clocks of two dispatchers differ, or one was without Redis, an update may be left
  /// out here until the device reports again.
  RegisteredDevice over(RegisteredDevice device) {
    if (at.isBefore(device.seenAt())) {
      return device;
    }
    Registration before = device.registration();
    return new RegisteredDevice(
        device.device(),
        new Registration(
            before.platform(),
            before.channels(),
            before.user(),
            locale == null ? before.locale() : locale,
            timezone == null ? before.timezone() : timezone,
            before.tags(),
            before.topics(),
            appVersion == null ? before.appVersion() : appVersion),
        device.createdAt(),
        device.updatedAt(),
        at);
  }
}
