package io.pushplanet.cm.session;

import io.pushplanet.common.wire.Refusal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// How a message's stay at a session ended.
public sealed interface Settlement {
  Settlement DELIVERED = new Delivered(null);

  /// The device acknowledged it (at QoS 0: the kernel took it).
  ///
  /// @param lateAt when, if [LateAcknowledgements] have told of it because nobody may wait for it any more; null in time
  record Delivered(@Nullable Instant lateAt) implements Settlement {}

  /// The session is gone, or was taken over.
  record NotHere() implements Settlement {}

  /// The device is here, and has not subscribed (any more).
  record NotSubscribed() implements Settlement {}

  /// No acknowledgement in time; the device may have it.
  record TimedOut() implements Settlement {}

  /// Its time to live ended before it was sent.
  record Expired() implements Settlement {}

  /// It cannot be sent, or the device refused it.
  ///
  /// @param detail the same for people, where there is more to say
  record Refused(Refusal why, @Nullable String detail) implements Settlement {}
}
