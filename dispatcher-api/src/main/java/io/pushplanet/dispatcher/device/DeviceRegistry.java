package io.pushplanet.dispatcher.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.denial.DeniedDevices;
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
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// The devices of the apps, in MySQL. Every change is one transaction, which locks the device's row first; Redis hears of it behind the
/// commit. Thread-safe.
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
      PlatformTransactionManager transactions,
      Clock clock) {
    this.mapper = mapper;
    this.rows = rows;
    this.passwords = passwords;
    this.waiting = waiting;
    this.routes = routes;
    this.denied = denied;
    this.formerUsers = formerUsers;
    TransactionTemplate template = new TransactionTemplate(transactions);
    // Under REPEATABLE READ locking a device that is not there yet locks the gap it will fill, and
    // two first registrations next to each other deadlock again and again.
    template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.collisions = new Collisions(template);
    this.clock = clock;
  }

  /// A device as it stands.
  record Registered(
      DeviceId device,
      Registration registration,
      Instant createdAt,
      Instant updatedAt,
      Instant seenAt) {}

  /// @param created whether it was unknown before
  /// @param passwordEnds to the second, if it is given one
  record Saved(Registered registered, boolean created, Instant passwordEnds) {}

  Optional<Registered> find(AppId app, DeviceId device) {
    DeviceMapper.DeviceRow row = mapper.find(app.value(), device.value());
    return row == null ? Optional.empty() : Optional.of(rows.read(app, device, row));
  }

  /// Registers or refreshes; the same token at another device of the app moves here, so that nobody is told twice.
  Saved save(AppId app, DeviceId device, Registration registration) {
    Instant asked = clock.instant();
    return changing(
        app, device, touched -> write(app, device, registration, now(), asked, touched));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  /// @param at when the change was asked for: what the device tells later than this is newer
  /// @param change makes the new registration of the device as it stands in its row, which is locked meanwhile
  /// @return empty when the device is unknown
  Optional<Saved> change(
      AppId app, DeviceId device, Instant at, Function<Registered, Registration> change) {
    return changing(
        app,
        device,
        touched -> {
          DeviceMapper.DeviceRow row = mapper.lock(app.value(), device.value());
          if (row == null) {
            return Optional.<Saved>empty();
          }
          Registration wanted = change.apply(rows.read(app, device, row));
          // Others may have been asked for later, and were written first.
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
      // Once more after the commit. But who is killed in between leaves no former owner of a token
      // in Redis, of whom nobody would hear again.
      routes.forget(touched.routes);
    }
    DeviceMapper.DeviceRow after = mapper.find(app.value(), device.value());
    if (after == null) {
      throw new IllegalStateException("a device vanished within its own transaction");
    }
    if (before != null && before.mqtt() && !after.mqtt()) {
      deny(app, device, before, touched);
    }
    Instant password = after.mqtt() ? passwords.give(app, device, ends, before, after) : ends;
    Saved saved = new Saved(rows.read(app, device, after), before == null, password);
    boolean hadAnother =
        before != null && before.userId() != null && !before.userId().equals(registration.user());
    if (hadAnother) {
      // Last: what is rolled back after it was told has not happened.
      waiting.endWhatIsForOthers(app, device, registration.user(), asked);
      // Behind it: where the broker is away, nothing was changed, and the device keeps its
      // connection.
      touched.handedOver.add(new DeviceKey(app, device));
    }
    return saved;
  }

  /// Forgets a device with all that belongs to it, and denies the passwords that it was given. What waited for it ends as failed.
  ///
  /// @return whether it was known
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
          waiting.endAll(app, device, asked);
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

  /// What of a change Redis has to hear of behind its commit.
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
      // Never of what may not have happened: Redis takes no denial back.
      touched.denied.forEach(denied::tell);
      return done;
    } finally {
      // Also where the commit was not answered: a repeat no longer finds whose token it took.
      routes.forget(touched.routes);
      touched.handedOver.forEach(formerUsers::end);
    }
  }

  /// @return whether the device is known
  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 where it has as many as it may
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

  /// Routes name neither topics nor tags: Redis has to hear of nothing.
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
