package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.tls.TlsLayer;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Which connections close while memory is scarce: slow readers, peers that are not read, and those
/// that delay the rest of a frame. All connections of a loop share one. Stateless.
final class Shedding {
  /// The share of its usual bound that a peer may have while the heap is nearly full.
  private static final int SHARE_OF_FULL_HEAP = 16;

  private static final long WHOLE_FRAME_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  /// The bytes of one read, for ten seconds.
  private static final long MAX_UNREAD_BYTE_SECONDS = 10 * 64 * 1024;

  private final Heap heap;
  private final ByteBudget partials;

  /// @param partials the budget for partial frames of authenticated peers
  Shedding(Heap heap, ByteBudget partials) {
    this.heap = heap;
    this.partials = partials;
  }

  /// Whether, while the heap is nearly full, these bytes are too many: unsent ones, or those of a
  /// peer that is not read. Thousands of connections have no other common bound.
  boolean isTooMuch(int bytes, Listener listener) {
    return heap.isFull()
        && !listener.trusted()
        && bytes > listener.pendingBytes() / SHARE_OF_FULL_HEAP;
  }

  /// The pieces of an honest frame or TLS record arrive within moments. A peer that delays or drips
  /// the rest makes room for others when there is no other room.
  boolean isTooOld(@Nullable PartialFrame partial, @Nullable TlsLayer tls, long nowNanos) {
    if (!partials.isNearlySpent()) {
      return false;
    }
    long before = nowNanos - WHOLE_FRAME_WITHIN_NANOS;
    return (partial != null && partial.beganBefore(before))
        || (tls != null && tls.hasPartialOfBefore(before));
  }

  /// A peer that publishes too fast is read slowly, and its unread bytes make room, too: the more
  /// there are, the sooner. A device that is slowed down now and then has few.
  ///
  /// @param kept the bytes that are kept for the peer
  boolean isUnreadTooLong(PartialFrame unread, int kept, long nowNanos) {
    if (!partials.isNearlySpent()) {
      return false;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(nowNanos - unread.readNanos());
    return seconds * kept > MAX_UNREAD_BYTE_SECONDS;
  }
}
