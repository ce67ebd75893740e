package io.pushplanet.gateway.node;

/// The node did not take a frame, as far as this process knows. The reason is in the log, or was a
/// moment ago.
final class NodeUnreachable extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String word;

  NodeUnreachable(String word) {
    super(word, null, false, false);
    this.word = word;
  }

  /// The reason in a timeline.
  String word() {
    return word;
  }
}
