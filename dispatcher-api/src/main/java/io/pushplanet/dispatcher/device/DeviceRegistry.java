package io.pushplanet.dispatcher.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.denial.DeniedDevices;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import io.pushplanet.dispatcher.route.RouteChanges;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.springframework.stereotype.Component;

/// The devices of the apps, in MySQL. Every change is one transaction, which locks the row of the
/// device first. Redis is told after the commit. Thread-safe.
@Component
class DeviceRegistry {
  private final DeviceMapper mapper;
  private final DeviceRows rows;
  private final MqttPasswords passwords;
  private final WaitingMessages waiting;
  private final RouteChanges routes;
  private final DeniedDevices denied;
  private final FormerUserSessions formerUsers;
  private final Collisions collisions;
  private final Clock clock;

  DeviceRegistry(
      DeviceMapper mapper,
      DeviceRows rows,
      MqttPasswords passwords,
      WaitingMessages waiting,
      RouteChanges routes,
      DeniedDevices denied,
      FormerUserSessions formerUsers,
      Collisions collisions,
      Clock clock) {
    this.mapper = mapper;
    this.rows = rows;
    this.passwords = passwords;
    this.waiting = waiting;
    this.routes = routes;
    this.denied = denied;
    this.formerUsers = formerUsers;
    this.collisions = collisions;
    this.clock = clock;
  }

  /// @param created whether the device was unknown before
  /// @param passwordEnds when the password that the device is given expires, to the second
  record Saved(RegisteredDevice registered, boolean created, Instant passwordEnds) {}

  Optional<RegisteredDevice> find(AppId app, DeviceId device) {
    DeviceMapper.DeviceRow row = mapper.find(app.value(), device.value());
    return row == null ? Optional.empty() : Optional.of(rows.read(app, device, row));
  }

  /// Registers a device, or registers it again. A token that another device of the app has moves
  /// here, so that the user gets no message twice.
  Saved save(AppId app, DeviceId device, Registration registration) {
    Instant asked = clock.instant();
    return changing(
        app, device, touched -> write(app, device, registration, now(), asked, touched));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /// @param at when the change was requested: what the device reports later is newer
  /// @param change makes the new registration from the present one; the row is locked meanwhile
  /// @return empty when the device is unknown
  Optional<Saved> change(
      AppId app, DeviceId device, Instant at, Function<RegisteredDevice, Registration> change) {
    return changing(
        app,
        device,
        touched -> {
          DeviceMapper.DeviceRow row = mapper.lock(app.value(), device.value());
          if (row == null) {
            return Optional.<Saved>empty();
          }
          Registration wanted = change.apply(rows.read(app, device, row));
          // Changes that were requested later may have been written first.
          Instant now = at.isAfter(row.updatedAt()) ? at : row.updatedAt();
          return Optional.of(write(app, device, wanted, now, at, touched));
        });
  }

  private Saved write(
      AppId app,
      DeviceId device,
      Registration registration,
      Instant now,
      Instant asked,
      Touched touched) {
    Instant ends = passwords.end(now);
    DeviceMapper.DeviceRow before = mapper.lock(app.value(), device.value());
    rows.write(app, device, registration, before == null, now, ends);
    rows.writeTokens(app, device, registration.channels(), now, touched.routes);
    if (touched.routes.size() > 1) {
      // Redis is told again after the commit. But if this process is killed in between, Redis would
      // keep the route of the token's former device, and no later request would remove it.
      routes.forget(touched.routes);
    }
    DeviceMapper.DeviceRow after = mapper.find(app.value(), device.value());
    if (after == null) {
      throw new IllegalStateException("a device vanished within its own transaction");
    }
    Instant password = after.mqtt() ? passwords.give(app, device, ends, before, after) : ends;
    Saved saved = new Saved(rows.read(app, device, after), before == null, password);
    boolean hadAnother =
        before != null && before.userId() != null && !before.userId().equals(registration.user());
    if (hadAnother) {
      // Done last, because an event that was told to the broker cannot be rolled back.
      waiting.endWhatIsForOthers(app, device, registration.user(), asked);
      // Added after that: when the broker is away, nothing was changed, and the device keeps its
      // connection.
      touched.handedOver.add(new DeviceKey(app, device));
    }
    if (before != null && before.mqtt() && !after.mqtt()) {
      deny(app, device, before, touched);
      waiting.endAll(app, device, "no_channel", asked);
    }
    return saved;
  }

  /// Deletes a device with everything that belongs to it, and denies the passwords that it was
  /// given. Messages that waited for the device end as failed.
  ///
  /// @return whether the device was known
  boolean delete(AppId app, DeviceId device) {
    Instant asked = clock.instant();
    return changing(
        app,
        device,
        touched -> {
          DeviceMapper.DeviceRow row = mapper.lock(app.value(), device.value());
          if (row == null) {
            return false;
          }
          waiting.endAll(app, device, "device_deleted", asked);
          rows.delete(app, device);
          deny(app, device, row, touched);
          return true;
        });
  }

  private void deny(AppId app, DeviceId device, DeviceMapper.DeviceRow row, Touched touched) {
    passwords
        .last(row)
        .ifPresent(ends -> {
          DeviceKey key = new DeviceKey(app, device);
          denied.deny(key, ends);
          touched.denied.put(key, ends);
        });
  }

  /// The parts of a change that Redis is told after the commit.
  private static final class Touched {
    final Set<DeviceKey> routes = new HashSet<>();
    final Set<DeviceKey> handedOver = new HashSet<>();
    final Map<DeviceKey, Instant> denied = new HashMap<>();

    void only(DeviceKey device) {
      routes.clear();
      routes.add(device);
      handedOver.clear();
      denied.clear();
    }
  }

  private <T> T changing(AppId app, DeviceId device, Function<Touched, T> work) {
    Touched touched = new Touched();
    try {
      T done =
          collisions.retrying(
              app,
              () -> {
                touched.only(new DeviceKey(app, device));
                return work.apply(touched);
              });
      // Redis is never told of a denial whose commit is uncertain, because it takes no denial back.
      touched.denied.forEach(denied::tell);
      return done;
    } finally {
      // Also when the answer to the commit was lost: a repeat would no longer find the device that
      // had the token.
      routes.forget(touched.routes);
      touched.handedOver.forEach(formerUsers::end);
    }
  }

  /// @return whether the device is known
  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 when the device has as many as
  ///     it may have
  boolean addTopic(AppId app, DeviceId device, String topic) {
    return ifKnown(app, device, () -> rows.addTopic(app, device, topic));
  }

  boolean removeTopic(AppId app, DeviceId device, String topic) {
    return ifKnown(app, device, () -> mapper.deleteTopic(app.value(), device.value(), topic));
  }

  boolean addTag(AppId app, DeviceId device, String tag) {
    return ifKnown(app, device, () -> rows.addTag(app, device, tag));
  }

  boolean removeTag(AppId app, DeviceId device, String tag) {
    return ifKnown(app, device, () -> mapper.deleteTag(app.value(), device.value(), tag));
  }

  /// Routes contain neither topics nor tags, so Redis need not be told.
  private boolean ifKnown(AppId app, DeviceId device, Runnable work) {
    return collisions.retrying(
        app,
        () -> {
          if (mapper.lock(app.value(), device.value()) == null) {
            return false;
          }
          work.run();
          return true;
        });
  }
}
