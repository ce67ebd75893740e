package io.pushplanet.cm.session;

import io.pushplanet.cm.session.SessionMetrics.Drop;
import io.pushplanet.common.message.MessageId;

/// A message to one device, with the origin that waits for its settlement.
///
/// @param publish shared by all recipients
/// @param answerByNanos when the origin stops waiting, by the loop's clock; [#NO_DEADLINE] if it
///     waits for ever
public record OutboundMessage(SharedPublish publish, long answerByNanos, Origin origin) {
  public static final long NO_DEADLINE = Long.MAX_VALUE;

  /// The frame or inbox that the message came from. It is told of the message's end exactly once,
  /// on the session's loop, and must not block.
  public interface Origin {
    void settled(OutboundMessage message, Settlement settlement);

    /// The message was sent to the device for the first time; [#settled] follows.
    void written();
  }

  public MessageId id() {
    return publish.id();
  }

  public long expiresAtMillis() {
    return publish.expiresAtMillis();
  }

  boolean isOverdue(long nowNanos) {
    return answerByNanos != NO_DEADLINE && nowNanos - answerByNanos > 0;
  }

  /// Counts how the message ended and tells its origin.
  void settle(Settlement settlement, SessionMetrics metrics) {
    switch (settlement) {
      case Settlement.NotHere(), Settlement.NotSubscribed() -> metrics.dropped(Drop.NOT_HERE);
      case Settlement.TimedOut() -> metrics.dropped(Drop.TIMED_OUT);
      case Settlement.Expired() -> metrics.dropped(Drop.EXPIRED);
      // Refusals are counted by the code that knows the reason.
      case Settlement.Delivered _, Settlement.Refused _ -> {}
    }
    origin.settled(this, settlement);
  }
}
