package io.pushplanet.gateway.apns;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsPushType;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/// The payloads of the messages that were sent last: the devices of a broadcast come one after the other, and to write its payload
/// for each of them would be a tenth of what they cost. Thread-safe.
final class RecentPayloads {
  private static final int PLACES = 64;

  private final AtomicReferenceArray<@Nullable Kept> places = new AtomicReferenceArray<>(PLACES);

  /// All that a payload is made of.
  private record Kept(
      MessageId message,
      Content content,
      Overrides overrides,
      ApnsPushType type,
      ApnsPayload payload) {
    boolean isOf(Push push, ApnsPushType other) {
      return type == other
          && message.equals(push.id())
          && content.equals(push.content())
          && overrides.equals(push.overrides());
    }
  }

  ApnsPayload of(Push push, ApnsPushType type) {
    int place = Math.floorMod(push.id().hashCode(), PLACES);
    Kept kept = places.get(place);
    if (kept == null || !kept.isOf(push, type)) {
      kept =
          new Kept(push.id(), push.content(), push.overrides(), type, ApnsPayload.of(push, type));
      places.set(place, kept);
    }
    return kept.payload();
  }
}
