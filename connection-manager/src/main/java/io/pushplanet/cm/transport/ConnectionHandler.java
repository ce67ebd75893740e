package io.pushplanet.cm.transport;

import java.nio.ByteBuffer;

/// What a connection means. One per connection, called only on its event loop; must not block.
public interface ConnectionHandler {

  /// Takes whole frames from `input` and leaves the position at the first byte that is not part of one. What is left is
  /// kept and offered again with what follows. The buffer belongs to the loop: keep no reference.
  void received(ByteBuffer input);

  /// There is no room for what came of a frame whose rest has not: all peers together hold too much of that. It is lost, and the connection
  /// closes; a last word may be written.
  void crowded();

  /// Everything written so far is in the kernel's hands.
  void flushed();

  /// Once a second while [Connection#watch] was called, something was written or the last answer was yes; else once in
  /// [EventLoop#IDLE_LOOK].
  ///
  /// @return whether something is going on that has to be looked at again in a second
  boolean swept(long nowNanos);

  /// The last call.
  void closed(CloseCause cause);
}
