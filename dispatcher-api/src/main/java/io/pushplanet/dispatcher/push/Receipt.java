package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What a 202 says of a message.
///
/// @param recipients devices known now; of a broad audience those counted lately
record Receipt(MessageId id, String state, Instant acceptedAt, Recipients recipients) {
  /// @param estimate 0 where nobody could count
  /// @param counted false where nobody could count; else null, and not told
  record Recipients(int estimate, @Nullable Boolean counted) {}

  /// @param estimate null where nobody could count
  static Receipt accepted(MessageId id, Instant at, @Nullable Integer estimate) {
    return new Receipt(
        id,
        "accepted",
        at,
        estimate == null ? new Recipients(0, false) : new Recipients(estimate, null));
  }
}
