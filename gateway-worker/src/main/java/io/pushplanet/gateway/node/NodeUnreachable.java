package io.pushplanet.gateway.node;

/// The node did not take what it was to be given, as far as this process knows. Why is in the log, or was a moment ago.
final class NodeUnreachable extends RuntimeException {
  private static final long serialVersionUID = 1;

  /// @param word what a timeline shows
  NodeUnreachable(String word) {
    super(word, null, false, false);
  }
}
