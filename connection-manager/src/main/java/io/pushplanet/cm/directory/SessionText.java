package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A session's text: `qos,identifier,epoch` in Redis, and `qos,identifier` where a former owner
/// describes it.
final class SessionText {
  private static final Pattern FORM = Pattern.compile("([0-3]),([0-9]{1,9})(?:,([0-9]{1,18}))?");

  /// Written for a session without a subscription; nodes of an earlier version take it for no
  /// session.
  private static final String NONE = "3,0";

  private SessionText() {}

  /// The text without the epoch.
  static String of(@Nullable Subscription subscription) {
    return subscription == null
        ? NONE
        : subscription.qos().ordinal() + "," + subscription.identifier();
  }

  /// The text without the epoch; blank when there is nothing to resume.
  static String of(Optional<RememberedSession> session) {
    return session.map(held -> of(held.subscription())).orElse("");
  }

  /// The session that a former owner describes.
  static Optional<RememberedSession> read(SessionRelease release) {
    return release.session().isEmpty()
        ? Optional.empty()
        : read(release.session() + "," + release.epoch())
            .map(session -> session.with(release.unacknowledged()));
  }

  /// The form of messages in commands and in Redis: ids with commas between them.
  static String of(List<MessageId> messages) {
    return messages.stream().map(MessageId::value).collect(Collectors.joining(","));
  }

  /// Skips what is no message id.
  static List<MessageId> readMessages(String text) {
    return Arrays.stream(text.split(",", -1))
        .filter(MessageId::isValid)
        .map(MessageId::new)
        .toList();
  }

  /// Nodes of an earlier version wrote no epoch. Empty for any other form.
  static Optional<RememberedSession> read(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    Subscription subscription =
        text.startsWith(NONE)
            ? null
            : Subscription.of(
                QoS.of(Integer.parseInt(parts.group(1))), Integer.parseInt(parts.group(2)));
    String epoch = parts.group(3);
    return Optional.of(
        new RememberedSession(subscription, epoch == null ? 0 : Long.parseLong(epoch)));
  }
}
