package io.pushplanet.cm.transport;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// The bytes of an incomplete frame, or of a peer that is not read. It grows with the bytes that
/// have arrived, never by what a header declares. Confined to its event loop.
final class PartialFrame {
  private static final int MIN_CAPACITY = 256;

  private ByteBuffer bytes;
  private long beganNanos;
  private long cameNanos;
  private long readNanos;

  private PartialFrame(ByteBuffer first, long nowNanos, long readNanos) {
    bytes = ByteBuffer.allocate(Math.max(MIN_CAPACITY, first.remaining())).put(first);
    beganNanos = nowNanos;
    cameNanos = nowNanos;
    this.readNanos = readNanos;
  }

  /// @param readNanos when the handler last read every whole frame
  /// @return null when there is no room
  static @Nullable PartialFrame of(
      ByteBuffer first, long nowNanos, long readNanos, KeptBytes counted) {
    // Allocated first, because the heap may have no room for it.
    var frame = new PartialFrame(first, nowNanos, readNanos);
    return counted.take(frame.capacity()) ? frame : null;
  }

  /// The bytes that it takes of the heap.
  int capacity() {
    return bytes.capacity();
  }

  /// @return false, without taking any byte, when there is no room
  boolean append(ByteBuffer more, long nowNanos, KeptBytes counted) {
    if (bytes.remaining() < more.remaining()) {
      int growth = Math.max(bytes.capacity(), more.remaining() - bytes.remaining());
      // Allocated first, because the heap may have no room for it.
      var larger = ByteBuffer.allocate(bytes.capacity() + growth);
      if (!counted.take(growth)) {
        return false;
      }
      bytes = larger.put(bytes.flip());
    }
    bytes.put(more);
    cameNanos = nowNanos;
    return true;
  }

  /// Whether its last bytes came after this time.
  boolean cameAfter(long nanos) {
    return cameNanos - nanos > 0;
  }

  /// Whether its first bytes came before this time.
  boolean beganBefore(long nanos) {
    return beganNanos - nanos < 0;
  }

  /// The peer was not read until now, so the missing rest is not its fault.
  void restartDeadline(long nowNanos) {
    beganNanos = nowNanos;
  }

  /// All of its bytes for the handler; [#keepRest] keeps those that it does not consume.
  ByteBuffer flip() {
    return bytes.flip();
  }

  /// Whether less than half of the capacity would be enough for this rest.
  boolean isRoomyFor(ByteBuffer rest) {
    return bytes.capacity() > MIN_CAPACITY && rest.remaining() < bytes.capacity() / 2;
  }

  /// When the handler last read every whole frame.
  long readNanos() {
    return readNanos;
  }

  void keepRest(long lastReadNanos) {
    readNanos = lastReadNanos;
    if (bytes.position() > 0) {
      // The rest belongs to another frame, whose bytes came with the last ones of this frame.
      beganNanos = cameNanos;
    }
    bytes.compact();
  }
}
