package io.pushplanet.gateway.node;

/// The node did not take what it was to be given, as far as this process knows. Why is in the log, or was a moment ago.
final class NodeUnreachable extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String word;

  NodeUnreachable(String word) {
    super(word, null, false, false);
    this.word = word;
  }

  /// What a timeline shows.
  String word() {
    return word;
  }
}
