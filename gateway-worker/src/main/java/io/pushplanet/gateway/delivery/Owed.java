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
import org.jspecify.annotations.Nullable;

/// A row that MySQL could not take when it was due to be written.
sealed interface Owed {
  Push push();

  /// The message belongs in its devices' inboxes.
  ///
  /// @param push with the recipients that are to be parked
  record Park(Push push) implements Owed {}

  /// The message belongs in the table `later`.
  record Wait(Later later) implements Owed {
    @Override
    public Push push() {
      return later.push();
    }
  }

  /// Groups the parcels by their messages, as they would have been parked.
  static List<Owed> parked(List<Parcel> parcels) {
    Map<MessageId, List<Parcel>> byMessage = new LinkedHashMap<>();
    for (Parcel parcel : parcels) {
      byMessage.computeIfAbsent(parcel.push().id(), _ -> new ArrayList<>()).add(parcel);
    }
    return byMessage.values().stream()
        .map(some -> some.getFirst().push().to(some.stream().map(Parcel::recipient).toList()))
        .<Owed>map(Park::new)
        .toList();
  }

  /// The wire form: an item of `push.owed`. Only [Wait] has more than the push.
  record Item(Push push, @Nullable Instant dueAt, @Nullable String lane, @Nullable String reason) {
    static Item of(Owed owed) {
      return switch (owed) {
        case Park(Push push) -> new Item(push, null, null, null);
        case Wait(Later later) ->
            new Item(later.push(), later.dueAt(), later.lane(), later.reason());
      };
    }

    Owed owed() {
      return dueAt == null || lane == null || reason == null
          ? new Park(push)
          : new Wait(new Later(dueAt, lane, reason, push));
    }
  }
}
