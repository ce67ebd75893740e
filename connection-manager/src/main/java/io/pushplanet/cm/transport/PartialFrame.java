package io.pushplanet.cm.transport;

import java.nio.ByteBuffer;

/// What has come of a frame whose rest has not, or waits because its sender is not read. It grows with what has really come, never by what a header declares.
/// Confined to its event loop.
final class PartialFrame {
  private static final int SMALLEST = 256;

  private ByteBuffer bytes;
  private long beganNanos;
  private long cameNanos;
  private long readNanos;

  /// @param readNanos when all that was there was read last
  PartialFrame(ByteBuffer first, long nowNanos, long readNanos) {
    bytes = ByteBuffer.allocate(Math.max(SMALLEST, first.remaining())).put(first);
    beganNanos = nowNanos;
    cameNanos = nowNanos;
    this.readNanos = readNanos;
  }

  /// What it takes of the heap.
  int capacity() {
    return bytes.capacity();
  }

  /// What it takes besides to [#append] this; mostly 0.
  int growthFor(ByteBuffer more) {
    return bytes.remaining() < more.remaining()
        ? Math.max(bytes.capacity(), bytes.position() + more.remaining() - bytes.capacity())
        : 0;
  }

  void append(ByteBuffer more, long nowNanos) {
    int growth = growthFor(more);
    if (growth > 0) {
      bytes = ByteBuffer.allocate(bytes.capacity() + growth).put(bytes.flip());
    }
    bytes.put(more);
    cameNanos = nowNanos;
  }

  /// Whether the last of it did.
  boolean cameAfter(long nanos) {
    return cameNanos - nanos > 0;
  }

  /// Whether the first of it did.
  boolean beganBefore(long nanos) {
    return beganNanos - nanos < 0;
  }

  /// Its rest could not come until now.
  void excuse(long nowNanos) {
    beganNanos = nowNanos;
  }

  /// All of it, to be read; what is not read stays by [#keepRest].
  ByteBuffer flip() {
    return bytes.flip();
  }

  /// Whether this rest of it would do with less than half.
  boolean isRoomyFor(ByteBuffer rest) {
    return bytes.capacity() > SMALLEST && rest.remaining() < bytes.capacity() / 2;
  }

  /// When all that was there was read last, for as far as it was whole.
  long readNanos() {
    return readNanos;
  }

  void keepRest(long lastReadNanos) {
    readNanos = lastReadNanos;
    if (bytes.position() > 0) {
      // Of another frame, which came with the last of this one.
      beganNanos = cameNanos;
    }
    bytes.compact();
  }
}
