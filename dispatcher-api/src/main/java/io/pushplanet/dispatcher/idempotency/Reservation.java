package io.pushplanet.dispatcher.idempotency;

import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// The value that Redis holds for one Idempotency-Key.
///
/// @param bodyHash SHA-256 of the body in base64
/// @param until when a request without an answer counts as dead; later while it is worked on, and
///     in the past for a request that failed
/// @param seed the id that the message has or would have, also when it is tried again
/// @param answer null until it is given
record Reservation(String bodyHash, Instant until, MessageId seed, @Nullable Answer answer) {
  Reservation until(Instant later) {
    return new Reservation(bodyHash, later, seed, answer);
  }

  Reservation answered(Answer given) {
    return new Reservation(bodyHash, until, seed, given);
  }

  Reservation freed() {
    return new Reservation(bodyHash, Instant.EPOCH, seed, null);
  }

  boolean isFree() {
    return answer == null && until.equals(Instant.EPOCH);
  }
}
