package io.pushplanet.gateway.delivery;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.parcel.Parcel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A message whose row MySQL could not take when it came up: an item of `push.owed`.
///
/// @param push with those of its recipients that it is about
/// @param dueAt when it goes to `lane` again; null, as the others then, where it waits in its devices' inboxes
/// @param reason for people: why it waits
record Owed(Push push, @Nullable Instant dueAt, @Nullable String lane, @Nullable String reason) {

  /// Those of one message together, as they would have been parked.
  static List<Owed> parked(List<Parcel> parcels) {
    Map<MessageId, List<Parcel>> alike = new LinkedHashMap<>();
    for (Parcel parcel : parcels) {
      alike.computeIfAbsent(parcel.push().id(), _ -> new ArrayList<>()).add(parcel);
    }
    return alike.values().stream()
        .map(some -> some.getFirst().push().to(some.stream().map(Parcel::recipient).toList()))
        .map(push -> new Owed(push, null, null, null))
        .toList();
  }

  static Owed waiting(Later later) {
    return new Owed(later.push(), later.dueAt(), later.lane(), later.reason());
  }

  /// Nothing where it is to be parked.
  Optional<Later> later() {
    return dueAt == null || lane == null || reason == null
        ? Optional.empty()
        : Optional.of(new Later(dueAt, lane, reason, push));
  }
}
