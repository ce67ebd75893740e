package io.pushplanet.cm.transport;

/// Counts the bytes that this process keeps for a peer: incomplete frames and TLS records, and
/// whole frames of a peer that is not read. Confined to the peer's event loop.
sealed interface KeptBytes permits UnauthenticatedPeer, AuthenticatedPeers {
  /// @return false, without counting, when there is no room
  boolean take(int bytes);

  void giveBack(int bytes);

  /// Counts bytes that are kept already, or gives them back if the number is negative.
  ///
  /// @return false when there is no room for them
  boolean change(int more);
}
