package io.pushplanet.cm.transport;

/// Why a socket is gone.
public enum CloseCause {
  /// The peer closed or reset it.
  PEER,
  /// We are done with it: after a refusal, a DISCONNECT, a takeover.
  OURS,
  /// The peer let more wait for it than its share, or took nothing for too long.
  SLOW_READER,
  /// What it sent had to wait, and the heap was nearly full.
  UNREAD_BYTES,
  /// Too many bytes of peers that have not said who they are.
  UNAUTHENTICATED_BYTES,
  TLS,
  /// Newer TLS handshakes took its place in line.
  HANDSHAKE_GIVEN_UP,
  SHUTDOWN,
  /// A bug: caught at the edge of the loop.
  ERROR
}
