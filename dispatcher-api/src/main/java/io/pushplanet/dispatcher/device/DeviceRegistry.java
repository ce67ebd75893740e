package io.pushplanet.dispatcher.device;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.denial.DeniedDevices;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.lane.Lanes;
import io.pushplanet.dispatcher.lane.Parcel;
import io.pushplanet.dispatcher.route.RouteChanges;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// The devices of the apps, in MySQL. Every change is one transaction; routes are forgotten after its commit. Thread-safe.
@Component
class DeviceRegistry {
  private static final int WAITING_AT_ONCE = 200;

  private final DeviceMapper mapper;
  private final RouteChanges routes;
  private final DeniedDevices denied;
  private final RememberedSessions sessions;
  private final Lanes lanes;
  private final Collisions collisions;
  private final Clock clock;
  private final Duration validity;

  DeviceRegistry(
      DeviceMapper mapper,
      RouteChanges routes,
      DeniedDevices denied,
      RememberedSessions sessions,
      Lanes lanes,
      PlatformTransactionManager transactions,
      DispatcherSettings settings,
      Clock clock) {
    this.mapper = mapper;
    this.routes = routes;
    this.denied = denied;
    this.sessions = sessions;
    this.lanes = lanes;
    TransactionTemplate template = new TransactionTemplate(transactions);
    // Under REPEATABLE READ locking a device that is not there yet locks the gap it will fill, and
    // two first registrations next to each other deadlock again and again.
    template.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.collisions = new Collisions(template);
    this.clock = clock;
    this.validity = settings.credentialValidity();
  }

  /// A device as it stands.
  record Registered(
      DeviceId device,
      Registration registration,
      Instant createdAt,
      Instant updatedAt,
      Instant seenAt) {}

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
      touched.handedOver.forEach(sessions::forget);
    }
  }

  /// @param created whether it was unknown before
  /// @param passwordEnds to the second, if it is given one
  record Saved(Registered registered, boolean created, Instant passwordEnds) {}

  /// Registers or refreshes; the same token at another device of the app moves here, so that nobody is told twice.
  Saved save(AppId app, DeviceId device, Registration registration) {
    Instant asked = clock.instant();
    return changing(
        app, device, touched -> write(app, device, registration, now(), asked, touched));
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
          Registration wanted = change.apply(registered(app, device, row));
          // Others may have been asked for later, and were written first.
          Instant now = at.isAfter(row.updatedAt()) ? at : row.updatedAt();
          return Optional.of(write(app, device, wanted, now, at, touched));
        });
  }

  /// Forgets a device with all that belongs to it, and denies the passwords that it was given. What waited for it ends as failed; that
  /// is told to the broker before the rows go, so that no delivery stays without an end.
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
          endWaiting(app, device, asked);
          mapper.deleteInbox(app.value(), device.value());
          mapper.deleteTags(app.value(), device.value());
          mapper.deleteTopics(app.value(), device.value());
          mapper.deleteTokens(app.value(), device.value());
          mapper.delete(app.value(), device.value());
          if (mayHavePassword(row)) {
            deny(new DeviceKey(app, device), lastPassword(row), touched);
          }
          return true;
        });
  }

  private void deny(DeviceKey device, Instant ends, Touched touched) {
    denied.deny(device, ends);
    touched.denied.put(device, ends);
  }

  private static boolean mayHavePassword(DeviceMapper.DeviceRow row) {
    return row.mqtt()
        || row.credentialEnds() == null
        || row.credentialEnds().isAfter(Instant.EPOCH);
  }

  /// A dispatcher of a version before may have given it one since, and its clock may be ahead.
  private Instant lastPassword(DeviceMapper.DeviceRow row) {
    return Stream.of(
            Optional.ofNullable(row.credentialEnds()).orElse(Instant.EPOCH),
            passwordEnd(row.updatedAt()),
            passwordEnd(clock.instant()))
        .max(Comparator.naturalOrder())
        .orElseThrow();
  }

  private Instant passwordEnd(Instant given) {
    return Instant.ofEpochSecond(DeviceCredential.end(given, validity));
  }

  /// A password ends later than all that are denied: within a second a device may be deleted, or its MQTT switched off, and registered anew.
  /// Looked for behind its row is there, which a deletion would have to lock.
  private Instant outlasting(AppId app, DeviceId device, Instant ends) {
    Instant until = denied.until(new DeviceKey(app, device));
    return until == null || until.isBefore(ends) ? ends : until.plusSeconds(1);
  }

  /// When the password ends that it is given, which its row notes.
  private Instant password(
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

  /// @return whether the device is known
  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 where it has as many as it may
  boolean addTopic(AppId app, DeviceId device, String topic) {
    return ifKnown(
        app,
        device,
        () -> {
          requireRoom("topic", topic, mapper.topics(app.value(), device.value()));
          mapper.addTopics(app.value(), device.value(), List.of(topic));
        });
  }

  boolean removeTopic(AppId app, DeviceId device, String topic) {
    return ifKnown(app, device, () -> mapper.deleteTopic(app.value(), device.value(), topic));
  }

  boolean addTag(AppId app, DeviceId device, String tag) {
    return ifKnown(
        app,
        device,
        () -> {
          requireRoom("tag", tag, mapper.tags(app.value(), device.value()));
          mapper.addTags(app.value(), device.value(), List.of(tag));
        });
  }

  boolean removeTag(AppId app, DeviceId device, String tag) {
    return ifKnown(app, device, () -> mapper.deleteTag(app.value(), device.value(), tag));
  }

  /// One by one no more come together than a registration may have.
  private static void requireRoom(String kind, String wanted, List<String> has) {
    if (has.size() < RegistrationReader.MOST_TAGS || has.contains(wanted)) {
      return;
    }
    Findings findings = new Findings();
    findings.add(
        kind,
        "too_many",
        "the device has "
            + has.size()
            + " "
            + kind
            + "s; at most "
            + RegistrationReader.MOST_TAGS
            + ": remove one first");
    findings.refuse();
  }

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

  private void endWaiting(AppId app, DeviceId device, Instant asked) {
    List<MessageId> waiting =
        new ArrayList<>(messages(mapper.waiting(app.value(), device.value())));
    List<DeviceMapper.WaitingBroadcast> broadcasts =
        mapper.waitingBroadcasts(app.value(), device.value());
    broadcasts.forEach(broadcast -> waiting.add(new MessageId(broadcast.messageId())));
    if (waiting.isEmpty()) {
      return;
    }
    fail(app, device, waiting, "device_deleted", asked);
    broadcasts.stream()
        .mapToLong(DeviceMapper.WaitingBroadcast::seq)
        .max()
        .ifPresent(seq -> mapper.passBroadcasts(app.value(), device.value(), seq, clock.instant()));
  }

  /// Whoever was logged in here was sent something that is not for whoever is now, though it may name both. What is for the device, a
  /// topic or a tag stays.
  ///
  /// @param user null for nobody
  private void endWhatIsForOthers(
      AppId app, DeviceId device, @Nullable String user, Instant asked) {
    List<DeviceMapper.Waiting> notTheirs =
        mapper.waitingForOthers(app.value(), device.value(), user);
    for (int from = 0; from < notTheirs.size(); from += WAITING_AT_ONCE) {
      List<DeviceMapper.Waiting> some =
          notTheirs.subList(from, Math.min(from + WAITING_AT_ONCE, notTheirs.size()));
      fail(app, device, messages(some), "user_changed", asked);
      mapper.deleteFromInbox(app.value(), device.value(), some);
    }
  }

  private static List<MessageId> messages(List<DeviceMapper.Waiting> rows) {
    return rows.stream().map(row -> new MessageId(row.messageId())).toList();
  }

  /// Told before the rows go: a crash in between leaves the rows to be sent or to fail again, never a delivery without an end.
  ///
  /// @param asked when that was asked for: what a repeat tells once more is the same event then
  private void fail(
      AppId app, DeviceId device, List<MessageId> messages, String reason, Instant asked) {
    Attempt attempt = Attempt.rejected(Channel.MQTT, asked, reason);
    lanes.publish(
        messages.stream()
            .map(message ->
                Parcel.of(
                    Topology.EVENTS,
                    new DeliveryEvent.Ended(
                        app, asked, message, device, DeliveryState.FAILED, attempt)))
            .toList());
  }

  Optional<Registered> find(AppId app, DeviceId device) {
    DeviceMapper.DeviceRow row = mapper.find(app.value(), device.value());
    return row == null ? Optional.empty() : Optional.of(registered(app, device, row));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  private Saved write(
      AppId app,
      DeviceId device,
      Registration registration,
      Instant now,
      Instant asked,
      Touched touched) {
    String platform = registration.platform().name().toLowerCase(Locale.ROOT);
    Instant ends = passwordEnd(now);
    DeviceMapper.DeviceRow before = mapper.lock(app.value(), device.value());
    if (before == null) {
      mapper.insert(app.value(), device.value(), platform, registration, now, ends);
    } else {
      mapper.update(app.value(), device.value(), platform, registration, now, ends);
    }
    List<String> tags = registration.tags();
    if (tags != null) {
      replace(
          tags,
          () -> mapper.deleteTags(app.value(), device.value()),
          () -> mapper.addTags(app.value(), device.value(), tags));
    }
    List<String> topics = registration.topics();
    if (topics != null) {
      replace(
          topics,
          () -> mapper.deleteTopics(app.value(), device.value()),
          () -> mapper.addTopics(app.value(), device.value(), topics));
    }
    writeTokens(app, device, registration.channels(), now, touched.routes);
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
      deny(new DeviceKey(app, device), lastPassword(before), touched);
    }
    Instant password = after.mqtt() ? password(app, device, ends, before, after) : ends;
    Saved saved = new Saved(registered(app, device, after), before == null, password);
    if (before != null && !Objects.equals(before.userId(), registration.user())) {
      touched.handedOver.add(new DeviceKey(app, device));
      if (before.userId() != null) {
        // Last: what is rolled back after it was told has not happened.
        endWhatIsForOthers(app, device, registration.user(), asked);
      }
    }
    return saved;
  }

  private static void replace(List<String> wanted, Runnable delete, Runnable add) {
    delete.run();
    if (!wanted.isEmpty()) {
      add.run();
    }
  }

  /// Of devices that register one token at the same time the later one keeps it: each locks its own tokens before it writes, and
  /// those of the others afterwards. Where two wait for each other, one is tried again.
  private void writeTokens(
      AppId app,
      DeviceId device,
      Registration.Channels channels,
      Instant now,
      Set<DeviceKey> touched) {
    Map<String, DeviceMapper.TokenRow> before =
        byChannel(mapper.lockTokens(app.value(), device.value()));
    Map<String, Registration.Token> wanted = new TreeMap<>();
    put(wanted, "apns", channels.apns());
    put(wanted, "fcm", channels.fcm());
    put(wanted, "hms", channels.hms());
    put(wanted, "webpush", channels.webpush());
    wanted.forEach((channel, token) -> {
      if (!isSame(before.get(channel), token)) {
        mapper.putToken(app.value(), device.value(), channel, token, now);
      }
      String asBefore =
          channel.equals("apns") ? token.token().toUpperCase(Locale.ROOT) : token.token();
      for (String other :
          mapper.lockOthersWith(app.value(), channel, token.token(), asBefore, device.value())) {
        mapper.deleteToken(app.value(), other, channel);
        touched.add(new DeviceKey(app, new DeviceId(other)));
      }
    });
    before.keySet().stream()
        .filter(channel -> !wanted.containsKey(channel))
        .forEach(channel -> mapper.deleteToken(app.value(), device.value(), channel));
  }

  private static void put(
      Map<String, Registration.Token> tokens, String channel, Registration.@Nullable Token token) {
    if (token != null) {
      tokens.put(channel, token);
    }
  }

  /// A token that was given up as dead and is registered anew counts as a new one.
  private static boolean isSame(DeviceMapper.@Nullable TokenRow before, Registration.Token token) {
    return before != null
        && before.deadAt() == null
        && before.token().equals(token.token())
        && before.kind().equals(token.kind())
        && before.environment().equals(token.environment());
  }

  private Registered registered(AppId app, DeviceId device, DeviceMapper.DeviceRow row) {
    Map<String, DeviceMapper.TokenRow> tokens =
        byChannel(mapper.tokens(app.value(), device.value()));
    return new Registered(
        device,
        new Registration(
            io.pushplanet.common.device.Platform.valueOf(row.platform().toUpperCase(Locale.ROOT)),
            new Registration.Channels(
                row.mqtt(),
                token(tokens.get("apns")),
                token(tokens.get("fcm")),
                token(tokens.get("hms")),
                token(tokens.get("webpush"))),
            row.userId(),
            row.locale(),
            row.timezone(),
            mapper.tags(app.value(), device.value()),
            mapper.topics(app.value(), device.value()),
            row.appVersion()),
        row.createdAt(),
        row.updatedAt(),
        row.seenAt());
  }

  private static Map<String, DeviceMapper.TokenRow> byChannel(List<DeviceMapper.TokenRow> tokens) {
    return tokens.stream()
        .collect(Collectors.toMap(DeviceMapper.TokenRow::channel, Function.identity()));
  }

  /// What a provider called dead is not shown as a way to the device.
  private static Registration.@Nullable Token token(DeviceMapper.@Nullable TokenRow row) {
    return row == null || row.deadAt() != null
        ? null
        : new Registration.Token(row.token(), row.kind(), row.environment());
  }
}
