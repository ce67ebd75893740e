package io.pushplanet.dispatcher.device;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.registration.Registration;
import io.pushplanet.dispatcher.registration.RegistrationReader;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// A registration as rows: the row of the device itself, and the rows of its tokens, tags and
/// topics. Writes belong in a transaction that has locked the row of the device. Thread-safe.
@Component
class DeviceRows {
  private final DeviceMapper mapper;

  DeviceRows(DeviceMapper mapper) {
    this.mapper = mapper;
  }

  RegisteredDevice read(AppId app, DeviceId device, DeviceMapper.DeviceRow row) {
    Map<String, DeviceMapper.TokenRow> tokens =
        byChannel(mapper.tokens(app.value(), device.value()));
    return new RegisteredDevice(
        device,
        new Registration(
            Platform.valueOf(row.platform().toUpperCase(Locale.ROOT)),
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

  /// A token that a provider called dead is left out.
  private static Registration.@Nullable Token token(DeviceMapper.@Nullable TokenRow row) {
    return row == null || row.deadAt() != null
        ? null
        : new Registration.Token(row.token(), row.kind(), row.environment());
  }

  /// Writes everything except the tokens.
  ///
  /// @param isNew whether the device has no row yet
  /// @param passwordEnds when the password expires that the device is given if its MQTT channel is
  ///     on, to the second
  void write(
      AppId app,
      DeviceId device,
      Registration registration,
      boolean isNew,
      Instant now,
      Instant passwordEnds) {
    String platform = registration.platform().name().toLowerCase(Locale.ROOT);
    if (isNew) {
      mapper.insert(app.value(), device.value(), platform, registration, now, passwordEnds);
    } else {
      mapper.update(app.value(), device.value(), platform, registration, now, passwordEnds);
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
  }

  private static void replace(List<String> wanted, Runnable delete, Runnable add) {
    delete.run();
    if (!wanted.isEmpty()) {
      add.run();
    }
  }

  /// When several devices register one token at the same time, the last one keeps it: each locks
  /// its own tokens before it writes, and those of the others afterwards. When two of them wait for
  /// each other, one is tried again.
  ///
  /// @param touched gets the devices that lose a token to this one
  void writeTokens(
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

  /// A token that was dead and is registered again counts as new.
  private static boolean isSame(DeviceMapper.@Nullable TokenRow before, Registration.Token token) {
    return before != null
        && before.deadAt() == null
        && before.token().equals(token.token())
        && before.kind().equals(token.kind())
        && before.environment().equals(token.environment());
  }

  private static Map<String, DeviceMapper.TokenRow> byChannel(List<DeviceMapper.TokenRow> tokens) {
    return tokens.stream()
        .collect(Collectors.toMap(DeviceMapper.TokenRow::channel, Function.identity()));
  }

  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 when the device has as many as
  ///     it may have
  void addTopic(AppId app, DeviceId device, String topic) {
    requireRoom("topic", topic, mapper.topics(app.value(), device.value()));
    mapper.addTopics(app.value(), device.value(), List.of(topic));
  }

  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 when the device has as many as
  ///     it may have
  void addTag(AppId app, DeviceId device, String tag) {
    requireRoom("tag", tag, mapper.tags(app.value(), device.value()));
    mapper.addTags(app.value(), device.value(), List.of(tag));
  }

  /// Topics and tags that are added one by one may not become more than a registration may have.
  private static void requireRoom(String kind, String wanted, List<String> has) {
    if (has.size() < RegistrationReader.MAX_TAGS || has.contains(wanted)) {
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
            + RegistrationReader.MAX_TAGS
            + ": remove one first");
    findings.refuse();
  }

  void delete(AppId app, DeviceId device) {
    mapper.deleteTags(app.value(), device.value());
    mapper.deleteTopics(app.value(), device.value());
    mapper.deleteTokens(app.value(), device.value());
    mapper.delete(app.value(), device.value());
  }
}
