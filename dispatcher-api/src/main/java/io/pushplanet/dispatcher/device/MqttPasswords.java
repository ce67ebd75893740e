package io.pushplanet.dispatcher.device;

import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.denial.DeniedDevices;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Says when the MQTT passwords of devices expire: a new one, and the last one that a device may
/// have. Call it within a transaction. Thread-safe.
@Component
class MqttPasswords {
  private final DeviceMapper mapper;
  private final DeniedDevices denied;
  private final Clock clock;
  private final Duration validity;

  MqttPasswords(
      DeviceMapper mapper, DeniedDevices denied, Clock clock, DispatcherSettings settings) {
    this.mapper = mapper;
    this.denied = denied;
    this.clock = clock;
    this.validity = settings.credentialValidity();
  }

  /// When a password expires that is given at this moment, to the second.
  Instant end(Instant given) {
    return Instant.ofEpochSecond(DeviceCredential.end(given, validity));
  }

  /// When the password expires that the device is given. The row notes it.
  ///
  /// @param ends when the password would expire if it were not denied
  Instant give(
      AppId app,
      DeviceId device,
      Instant ends,
      DeviceMapper.@Nullable DeviceRow before,
      DeviceMapper.DeviceRow after) {
    Instant last = Objects.requireNonNull(after.credentialEnds());
    boolean mayBeDenied = before == null || !before.mqtt() || last.isAfter(ends);
    Instant password = mayBeDenied ? outlasting(app, device, ends) : ends;
    if (password.isAfter(last)) {
      mapper.credentialEnds(app.value(), device.value(), password);
    }
    return password;
  }

  /// The password must expire later than all denied ones: within one second a device may be
  /// deleted, or its MQTT switched off, and registered again. This looks for denials after the row
  /// of the device is there, which a deletion would have to lock.
  private Instant outlasting(AppId app, DeviceId device, Instant ends) {
    Instant until = denied.until(new DeviceKey(app, device));
    return until == null || until.isBefore(ends) ? ends : until.plusSeconds(1);
  }

  /// When the last password expires that the device may have; empty when it was given none.
  Optional<Instant> last(DeviceMapper.DeviceRow row) {
    if (!mayHaveOne(row)) {
      return Optional.empty();
    }
    // A dispatcher of an earlier version may have given it another password since, and its clock
    // may be ahead.
    return Stream.of(
            Optional.ofNullable(row.credentialEnds()).orElse(Instant.EPOCH),
            end(row.updatedAt()),
            end(clock.instant()))
        .max(Comparator.naturalOrder());
  }

  private static boolean mayHaveOne(DeviceMapper.DeviceRow row) {
    return row.mqtt()
        || row.credentialEnds() == null
        || row.credentialEnds().isAfter(Instant.EPOCH);
  }
}
