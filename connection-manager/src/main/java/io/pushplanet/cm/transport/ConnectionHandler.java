package io.pushplanet.cm.transport;

import java.nio.ByteBuffer;

/// Gives the bytes of one connection a meaning. Called only on the connection's event loop; must
/// not block.
public interface ConnectionHandler {

  /// Consumes whole frames from `input` and leaves the position at the first byte of an incomplete
  /// one. The remaining bytes are kept and offered again with the following ones. The buffer
  /// belongs to the loop; the handler must not keep a reference.
  void received(ByteBuffer input);

  /// The partial frame finds no room, because all peers together hold too many such bytes. It is
  /// dropped and the connection closes; the handler may write a last packet.
  void crowded();

  /// The kernel has taken every byte that was written so far.
  void flushed();

  /// Called every second after [Connection#watch], after a write, or while the last answer was
  /// true; otherwise once per [EventLoop#IDLE_SWEEP].
  ///
  /// @return whether the handler must be swept again in a second
  boolean swept(long nowNanos);

  /// This process stops. The handler may write a last packet; the connection closes after that.
  void stopping();

  /// The connection has ended: its socket has closed, or this process ends it and the socket may
  /// linger. Called once; no call follows.
  void closed(CloseCause cause);
}
