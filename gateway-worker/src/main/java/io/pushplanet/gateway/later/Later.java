package io.pushplanet.gateway.later;

import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;

/// A push that goes to a lane when it is due.
///
/// @param reason for people: why it waits
public record Later(Instant dueAt, String lane, String reason, Push push) {
  /// Sorted inserts do not deadlock each other.
  static final Comparator<Later> BY_ID = Comparator.comparing(later -> later.id().toString());

  /// The same push kept twice (its lane message was redelivered) has the same id, so it waits once. One that is put off again
  /// while [DueLane] still brings it back waits for that row's lock, and is there when the row is gone: it must be deleted in the
  /// transaction that claimed it.
  UUID id() {
    StringBuilder name =
        new StringBuilder(lane).append('\0').append(push.id()).append('\0').append(push.attempt());
    push.recipients().stream()
        .map(one -> one.device().value())
        .sorted()
        .forEach(one -> name.append('\0').append(one));
    return UUID.nameUUIDFromBytes(name.toString().getBytes(StandardCharsets.UTF_8));
  }

  /// A lane batch of one.
  String pushes() {
    return "[" + new String(WireForm.write(push), StandardCharsets.UTF_8) + "]";
  }
}
