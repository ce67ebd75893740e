package io.pushplanet.gateway.provider;

import io.pushplanet.common.message.MessageId;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The payloads of the latest messages. A broadcast's devices follow each other, and writing its
/// payload for each of them would be a tenth to a quarter of their cost. Thread-safe.
///
/// @param <K> everything that the payload is made of
public final class RecentPayloads<K extends Record, F> {
  private static final int PLACES = 64;

  private final AtomicReferenceArray<@Nullable Kept<K, F>> places =
      new AtomicReferenceArray<>(PLACES);

  private record Kept<K, F>(K madeOf, F form) {}

  public F of(MessageId message, K madeOf, Supplier<F> write) {
    int place = Math.floorMod(message.hashCode(), PLACES);
    Kept<K, F> kept = places.get(place);
    if (kept == null || !kept.madeOf().equals(madeOf)) {
      kept = new Kept<>(madeOf, write.get());
      places.set(place, kept);
    }
    return kept.form();
  }
}
