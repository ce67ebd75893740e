package io.pushplanet.load.hostile;

/// The bytes of one connection: perhaps a login, then mutated packets, each followed by a PINGREQ,
/// then zeros, which no packet begins with, so that the node need not wait for more.
///
/// @param packets mutated ones
/// @param logsIn whether a good CONNECT precedes them
record Pipeline(byte[] bytes, int packets, boolean logsIn) {

  /// How many of its mutated packets the node has decoded or refused for certain: those before a
  /// PINGRESP, and the one at which the node ended the connection. There may be more: over
  /// WebSocket a node says no more once it has read a bad frame, even if that came together with
  /// good packets.
  ///
  /// @param ended by the node, and not because we had left
  int judged(Answers answers, boolean ended) {
    if (logsIn && !answers.isAdmitted()) {
      return 0;
    }
    int answered = Math.min(packets, answers.pings());
    return ended ? Math.min(packets, answered + 1) : answered;
  }
}
