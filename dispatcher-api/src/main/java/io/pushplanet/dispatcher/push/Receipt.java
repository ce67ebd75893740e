package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The body of a 202.
///
/// @param recipients the devices known now; for a broad audience a recent count
record Receipt(MessageId id, String state, Instant acceptedAt, Recipients recipients) {
  /// @param estimate 0 without a count
  /// @param counted false without a count; otherwise null, and absent
  record Recipients(int estimate, @Nullable Boolean counted) {}

  /// @param estimate null without a count
  static Receipt accepted(MessageId id, Instant at, @Nullable Integer estimate) {
    return new Receipt(
        id,
        "accepted",
        at,
        estimate == null ? new Recipients(0, false) : new Recipients(estimate, null));
  }
}
