package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import io.pushplanet.cm.transport.tls.TlsLayer;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLException;

/// Writes to the sockets of a loop's connections, which share one, so that none has to hold
/// buffers. A turn's frames to one peer are gathered, so that one system call sends them. TLS
/// records that the kernel has no room for are [kept][TlsLayer#unsent] by the connection's layer
/// and go out before anything else. Confined to its event loop.
final class Output {
  private final EventLoop loop;
  private final ByteBuffer plain;
  private final ByteBuffer out;

  Output(EventLoop loop) {
    this.loop = loop;
    this.plain = loop.plainBuffer;
    this.out = loop.writeBuffer;
  }

  /// Sends as many pending bytes as one buffer holds.
  ///
  /// @return whether the kernel has taken all of them
  boolean send(PendingFrames queue, Wire wire) throws IOException {
    out.clear();
    queue.copyTo(out);
    out.flip();
    queue.taken(written(wire));
    return !out.hasRemaining();
  }

  /// Encrypts one record's worth of the pending bytes, and sends it.
  ///
  /// @return whether the kernel has taken the whole record
  boolean send(PendingFrames queue, TlsLayer layer, Wire wire) throws IOException {
    plain.clear().limit(TlsIdentity.MAX_PLAIN_BYTES);
    queue.copyTo(plain);
    plain.flip();
    out.clear();
    int taken = layer.seal(plain, out);
    boolean all = write(layer, wire);
    queue.taken(taken);
    return all && taken > 0;
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

  /// Sends TLS's close, or the alert that says why it refuses the peer.
  ///
  /// @return false if TLS refuses the peer: the engine first throws the exception of its task, and
  ///     has the alert then
  boolean sendEnd(TlsLayer layer, Wire wire) {
    boolean takes = true;
    for (int tries = 0; tries < 2; tries++) {
      try {
        sendHandshake(layer, wire);
        return takes;
      } catch (SSLException refused) {
        takes = false;
      } catch (IOException gone) {
        return takes;
      }
    }
    return takes;
  }

  private boolean write(TlsLayer layer, Wire wire) throws IOException {
    out.flip();
    written(wire);
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
    rest.position(rest.position() + written);
    if (!rest.hasRemaining()) {
      layer.sentAll();
    }
    return written;
  }

  /// @return how many bytes the kernel has taken: none if the loop has stood still since it last
  ///     looked
  private int written(Wire wire) throws IOException {
    int written = loop.isAwake() ? wire.write(out) : 0;
    loop.metrics.bytesWritten.increment(written);
    return written;
  }
}
