package io.pushplanet.cm.transport;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/// Frames that one peer has not read yet, the oldest first.
final class PendingFrames {
  /// What a frame takes of the heap besides its bytes: array, buffer, place in the queue.
  private static final int FRAME_OVERHEAD_BYTES = 80;

  private final ArrayDeque<ByteBuffer> frames = new ArrayDeque<>(4);
  private int bytes;

  /// Adds the frame; the array belongs to this object now.
  void add(byte[] frame) {
    frames.add(ByteBuffer.wrap(frame));
    bytes += frame.length;
  }

  boolean isEmpty() {
    return frames.isEmpty();
  }

  /// Their bytes, without overhead.
  int bytes() {
    return bytes;
  }

  /// The heap that they take.
  int cost() {
    return bytes + FRAME_OVERHEAD_BYTES * frames.size();
  }

  /// Copies as many bytes as `out` has room for; they stay pending.
  void copyTo(ByteBuffer out) {
    for (ByteBuffer frame : frames) {
      int some = Math.min(out.remaining(), frame.remaining());
      out.put(out.position(), frame, frame.position(), some);
      out.position(out.position() + some);
      if (!out.hasRemaining()) {
        return;
      }
    }
  }

  /// Whether part of the first frame was sent.
  boolean hasBegun() {
    ByteBuffer head = frames.peek();
    return head != null && head.position() > 0;
  }

  /// Drops bytes that were sent.
  void taken(int some) {
    bytes -= some;
    int left = some;
    while (left > 0) {
      ByteBuffer head = frames.element();
      int part = Math.min(left, head.remaining());
      head.position(head.position() + part);
      left -= part;
      if (!head.hasRemaining()) {
        frames.remove();
      }
    }
  }
}
