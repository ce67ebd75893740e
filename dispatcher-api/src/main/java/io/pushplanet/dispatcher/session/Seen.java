package io.pushplanet.dispatcher.session;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The newest updates of a device, joined to one.
///
/// @param at when the newest update came
/// @param appVersion the newest that was given
/// @param locale the newest that was given
/// @param timezone the newest that was given
public record Seen(
    DeviceKey key,
    Instant at,
    @Nullable Given appVersion,
    @Nullable Given locale,
    @Nullable Given timezone) {
  /// A value of an update.
  ///
  /// @param at when the update came that gave it, which may be before the newest one
  public record Given(String value, Instant at) {}

  static Seen of(DeviceKey key, Instant at, SessionUpdate update) {
    return new Seen(
        key,
        at,
        given(update.appVersion(), at),
        given(update.locale(), at),
        given(update.timezone(), at));
  }

  /// @param device `app/device`
  /// @param held time, version, locale and time zone, each on a line of its own, and then the times
  ///     of these three. The entries of nodes and of older dispatchers have no such times: their
  ///     values are as old as the entry
  static Seen parse(String device, String held) {
    String[] parts = held.split("\n", -1);
    int slash = device.indexOf('/');
    return new Seen(
        new DeviceKey(
            new AppId(device.substring(0, slash)), new DeviceId(device.substring(slash + 1))),
        time(parts[0]),
        given(parts, 1),
        given(parts, 2),
        given(parts, 3));
  }

  private static @Nullable Given given(String[] parts, int place) {
    String value = parts[place].isEmpty() ? null : parts[place];
    return given(value, time(parts.length > 4 ? parts[place + 3] : parts[0]));
  }

  private static @Nullable Given given(@Nullable String value, Instant at) {
    return value == null ? null : new Given(value, at);
  }

  private static Instant time(String millis) {
    return Instant.ofEpochMilli(Long.parseLong(millis));
  }

  /// The device with this update. An update that is older than the row changes nothing: it has been
  /// written, or a later registration has replaced it. A value that is older than the registration
  /// changes nothing either, however new the update is. When the clocks of two dispatchers differ,
  /// or one was without Redis, an update may be left out here until the device reports again.
  RegisteredDevice over(RegisteredDevice device) {
    if (at.isBefore(device.seenAt())) {
      return device;
    }
    Registration before = device.registration();
    Instant registered = device.updatedAt();
    return new RegisteredDevice(
        device.device(),
        new Registration(
            before.platform(),
            before.channels(),
            before.user(),
            newest(locale, before.locale(), registered),
            newest(timezone, before.timezone(), registered),
            before.tags(),
            before.topics(),
            newest(appVersion, before.appVersion(), registered)),
        device.createdAt(),
        registered,
        at);
  }

  private static @Nullable String newest(
      @Nullable Given given, @Nullable String stored, Instant registered) {
    return given == null || given.at().isBefore(registered) ? stored : given.value();
  }
}
