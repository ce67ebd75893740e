package io.pushplanet.gateway.later;

import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;

/// A push that returns to a lane when it is due.
///
/// @param reason why it waits, for people
public record Later(Instant dueAt, String lane, String reason, Push push) {
  /// Inserts in one order do not deadlock each other.
  static final Comparator<Later> BY_ID = Comparator.comparing(later -> later.id().toString());

  /// Made of the push, so that a push that is kept twice, because its lane message was redelivered,
  /// waits once. A push that is put off again while [DueRows] still brings it back waits for the
  /// lock on that row and is inserted when the row is gone; so the transaction that claims a row
  /// must delete it.
  UUID id() {
    StringBuilder name =
        new StringBuilder(lane).append('\0').append(push.id()).append('\0').append(push.attempt());
    push.recipients().stream()
        .map(one -> one.device().value())
        .sorted()
        .forEach(one -> name.append('\0').append(one));
    return UUID.nameUUIDFromBytes(name.toString().getBytes(StandardCharsets.UTF_8));
  }

  /// A lane batch with one push.
  String pushes() {
    return "[" + new String(WireForm.write(push), StandardCharsets.UTF_8) + "]";
  }
}
