package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.SessionMetrics.Drop;
import io.pushplanet.common.message.MessageId;

/// A message on its way to one device, and who wants to know what became of it.
///
/// @param publish shared by all recipients
/// @param answerByNanos when the origin stops waiting, by the loop's clock; [#NO_DEADLINE] for none
public record OutboundMessage(SharedPublish publish, long answerByNanos, Origin origin) {
  public static final long NO_DEADLINE = Long.MAX_VALUE;

  /// Who handed the message over. Told of its end exactly once, on the session's loop; must not block.
  public interface Origin {
    void settled(OutboundMessage message, Settlement settlement);

    /// It is on its way to the device for the first time; [#settled] follows.
    void written();
  }

  public MessageId id() {
    return publish.id();
  }

  public Binary payload() {
    return publish.payload();
  }

  public long expiresAtMillis() {
    return publish.expiresAtMillis();
  }

  boolean isOverdue(long nowNanos) {
    return answerByNanos != NO_DEADLINE && nowNanos - answerByNanos > 0;
  }

  /// Counts how its stay at a session ended, and tells its origin.
  void settle(Settlement settlement, SessionMetrics metrics) {
    switch (settlement) {
      case Settlement.NotHere(), Settlement.NotSubscribed() -> metrics.dropped(Drop.NOT_HERE);
      case Settlement.TimedOut() -> metrics.dropped(Drop.TIMED_OUT);
      case Settlement.Expired() -> metrics.dropped(Drop.EXPIRED);
      // A refusal is counted where its reason is known.
      case Settlement.Delivered _, Settlement.Refused _ -> {}
    }
    origin.settled(this, settlement);
  }
}
