package io.pushplanet.cm.session;

import io.pushplanet.common.wire.Refusal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// How a message ended at a session.
public sealed interface Settlement {
  Settlement DELIVERED = new Delivered(null);

  /// The device acknowledged the message (at QoS 0: the kernel took its bytes).
  ///
  /// @param lateAt the time of an acknowledgement that [LateAcknowledgements] has published because
  ///     the origin may have stopped waiting; null for one in time
  record Delivered(@Nullable Instant lateAt) implements Settlement {}

  /// The session ended, or was taken over.
  record NotHere() implements Settlement {}

  /// The device is connected and not subscribed.
  record NotSubscribed() implements Settlement {}

  /// The device did not acknowledge in time; it may have the message.
  record TimedOut() implements Settlement {}

  /// The message's time to live ended before it was sent.
  record Expired() implements Settlement {}

  /// The message cannot be sent, or the device refused it.
  ///
  /// @param detail explains the reason to people, where there is more to say
  record Refused(Refusal why, @Nullable String detail) implements Settlement {}
}
