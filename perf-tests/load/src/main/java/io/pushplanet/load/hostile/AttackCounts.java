package io.pushplanet.load.hostile;

/// The outcome of one run of mutated packets.
///
/// @param packets handed to connections that the node accepted
/// @param unanswered connections that were neither answered to their end nor closed within 20 s,
///     which is a fault
public record AttackCounts(long packets, long connections, long unanswered) {

  /// The text that one process sends to another.
  String text() {
    return packets + " " + connections + " " + unanswered;
  }

  /// Reads [#text].
  public static AttackCounts parse(String text) {
    String[] numbers = text.split(" ");
    return new AttackCounts(
        Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
  }
}
