package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.MessageId;
import java.time.Instant;

/// What a 202 says of a message.
///
/// @param recipients devices known now; of a broad audience those counted now
record Receipt(MessageId id, String state, Instant acceptedAt, Recipients recipients) {
  record Recipients(int estimate) {}

  static Receipt accepted(MessageId id, Instant at, int estimate) {
    return new Receipt(id, "accepted", at, new Recipients(estimate));
  }
}
