package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.nio.ByteBuffer;

/// A connected, non-blocking socket that sends bytes at once (TCP_NODELAY).
public interface Wire {
  /// From now on `owner` is told when there are bytes to read.
  void join(Object owner) throws IOException;

  /// @param to a direct buffer
  /// @return bytes read, 0 when there are none yet, -1 at the end
  int read(ByteBuffer to) throws IOException;

  /// @param from a direct buffer
  /// @return bytes that the kernel has taken, 0 when it can take none yet
  int write(ByteBuffer from) throws IOException;

  /// Sets whether the owner is told that there are bytes to read. Otherwise it does not hear of the
  /// end or a reset, either.
  void reading(boolean wanted);

  /// Sets whether the owner is told that the kernel can take bytes.
  void writing(boolean wanted);

  /// Whether the peer has closed its end or reset the connection, even if earlier bytes are unread.
  ///
  /// @return false where the platform cannot tell: java.nio can only read on
  boolean hasPeerLeft();

  /// Ends our stream (FIN) and continues reading. Does nothing if the peer has gone.
  void shutdownOutput() throws IOException;

  /// Closes the socket, at the latest in the next [Poller#poll].
  void close();

  /// Closes by RST: bytes under way are dropped, and the kernel keeps no TIME_WAIT.
  void reset();

  /// The kernel has ended the connection because the peer's system has not answered for too long.
  /// Thrown by [#read] or [#write], where the platform tells the reason: java.nio does not.
  final class PathDead extends IOException {
    PathDead(IOException error) {
      super(error);
    }
  }
}
