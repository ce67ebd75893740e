package io.pushplanet.cm.transport;

/// Why a socket was closed.
public enum CloseCause {
  /// The peer closed or reset it.
  PEER,
  /// The kernel gave it up, because the peer's system had not answered for too long.
  DEAD_PATH,
  /// This node ended the connection: after a refusal, a DISCONNECT, a takeover.
  OURS,
  /// Too many bytes waited for the peer, or it read nothing for too long.
  SLOW_READER,
  /// Bytes that the peer had sent waited unread while the heap was nearly full.
  UNREAD_BYTES,
  /// Unauthenticated peers made this process hold too many bytes.
  UNAUTHENTICATED_BYTES,
  TLS,
  /// Newer TLS handshakes took its place in the queue, or an Error ended its handshake.
  HANDSHAKE_GIVEN_UP,
  SHUTDOWN,
  /// A bug, caught at the edge of the loop.
  ERROR
}
