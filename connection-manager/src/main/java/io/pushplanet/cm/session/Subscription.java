package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import java.util.Optional;
import java.util.regex.Pattern;

/// The one subscription a device can have, to its messages.
///
/// @param identifier MQTT 5's subscription identifier; 0 for none
public record Subscription(QoS qos, int identifier) {
  private static final Pattern FORM = Pattern.compile("([0-3]),([0-9]{1,9})(?:,([0-9]{1,18}))?");

  /// Written where a session has no subscription; nodes of an earlier version take it for no session.
  static final String NONE = "3,0";

  private static final Subscription AT_MOST_ONCE = new Subscription(QoS.AT_MOST_ONCE, 0);
  private static final Subscription AT_LEAST_ONCE = new Subscription(QoS.AT_LEAST_ONCE, 0);

  /// One object for all devices that ask for the same.
  public static Subscription of(QoS qos, int identifier) {
    if (identifier != 0) {
      return new Subscription(qos, identifier);
    }
    return switch (qos) {
      case AT_MOST_ONCE -> AT_MOST_ONCE;
      case AT_LEAST_ONCE -> AT_LEAST_ONCE;
      case EXACTLY_ONCE -> new Subscription(qos, 0);
    };
  }

  String text() {
    return qos.ordinal() + "," + identifier;
  }

  /// What another node says of the session that it had.
  static Optional<Directory.Remembered> remembered(Bequest told) {
    return told.session().isEmpty()
        ? Optional.empty()
        : remembered(told.session() + "," + told.epoch());
  }

  /// `qos,identifier,epoch`; nodes of an earlier version wrote no epoch. Nothing when it has another form.
  static Optional<Directory.Remembered> remembered(String text) {
    var parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    var subscription =
        text.startsWith(NONE)
            ? null
            : of(QoS.of(Integer.parseInt(parts.group(1))), Integer.parseInt(parts.group(2)));
    var epoch = parts.group(3);
    return Optional.of(
        new Directory.Remembered(subscription, epoch == null ? 0 : Long.parseLong(epoch)));
  }
}
