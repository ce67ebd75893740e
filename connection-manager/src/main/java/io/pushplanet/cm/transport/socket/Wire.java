package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.nio.ByteBuffer;

/// A connected socket that never waits, and that sends at once what it is given (TCP_NODELAY).
public interface Wire {
  /// From now on `owner` is told when there is something to read.
  void join(Object owner) throws IOException;

  /// @param to direct
  /// @return bytes read, 0 when there are none yet, -1 at the end
  int read(ByteBuffer to) throws IOException;

  /// @param from direct
  /// @return bytes that the kernel has taken, 0 when it can take none yet
  int write(ByteBuffer from) throws IOException;

  /// Whether the owner is told that there is something to read. Who is told of nothing does not hear of the end or of a reset either.
  void reading(boolean wanted);

  /// Whether the owner is told that the kernel can take bytes.
  void writing(boolean wanted);

  /// Whether the peer has closed its end or reset the connection, even if bytes from before are still unread.
  ///
  /// @return false where the platform cannot tell: java.nio can only read on
  boolean hasPeerLeft();

  /// Ends what we send (FIN) and goes on reading. Nothing for a peer that is gone already.
  void shutdownOutput() throws IOException;

  /// At the latest with the next [Poller#poll].
  void close();

  /// Closes by RST: whatever is under way is dropped, and no TIME_WAIT is left of it in the kernel.
  void reset();
}
