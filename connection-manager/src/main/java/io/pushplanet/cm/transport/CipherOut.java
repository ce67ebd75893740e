package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.Counter;
import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import io.pushplanet.cm.transport.tls.TlsLayer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

/// Writes TLS records. It encrypts into the loop's buffers; bytes that the kernel has no room for
/// are [kept][TlsLayer#unsent] by the connection's layer and go out before anything else. All
/// connections of a loop share one, so that none has to hold buffers. Confined to its event loop.
final class CipherOut {
  private final ByteBuffer plain;
  private final ByteBuffer out;
  private final Counter bytesWritten;
  private final BooleanSupplier isAwake;

  /// @param out a direct buffer
  /// @param isAwake [EventLoop#isAwake]
  CipherOut(ByteBuffer plain, ByteBuffer out, Counter bytesWritten, BooleanSupplier isAwake) {
    this.plain = plain;
    this.out = out;
    this.bytesWritten = bytesWritten;
    this.isAwake = isAwake;
  }

  /// Sends TLS's own messages.
  ///
  /// @return whether the kernel has taken all of their bytes
  boolean sendHandshake(TlsLayer layer, Wire wire) throws IOException {
    while (layer.wantsToSend()) {
      out.clear();
      layer.seal(ByteBuffer.allocate(0), out);
      if (!write(layer, wire)) {
        return false;
      }
    }
    return true;
  }

  /// Encrypts one record's worth of the pending bytes, which stay in the queue.
  ///
  /// @return how many bytes were encrypted; the queue may forget them
  int send(TlsLayer layer, Wire wire, PendingFrames queue) throws IOException {
    plain.clear().limit(TlsIdentity.MAX_PLAIN_BYTES);
    queue.copyTo(plain);
    plain.flip();
    out.clear();
    int taken = layer.seal(plain, out);
    write(layer, wire);
    return taken;
  }

  private boolean write(TlsLayer layer, Wire wire) throws IOException {
    out.flip();
    bytesWritten.increment(written(wire));
    if (!out.hasRemaining()) {
      return true;
    }
    layer.keepUnsent(out);
    wire.writing(true);
    return false;
  }

  /// Sends the bytes that were kept for want of room.
  ///
  /// @return how many of them the kernel has taken now
  int sendUnsent(TlsLayer layer, Wire wire) throws IOException {
    ByteBuffer rest = layer.unsent();
    if (rest == null) {
      return 0;
    }
    out.clear().put(rest.duplicate()).flip();
    int written = written(wire);
    bytesWritten.increment(written);
    rest.position(rest.position() + written);
    if (!rest.hasRemaining()) {
      layer.sentAll();
    }
    return written;
  }

  /// @return how many bytes the kernel has taken: none if the loop has stood still since it last
  ///     looked
  private int written(Wire wire) throws IOException {
    return isAwake.getAsBoolean() ? wire.write(out) : 0;
  }
}
