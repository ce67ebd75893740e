package io.pushplanet.load.hostile;

/// The outcome of one run of mutated packets.
///
/// @param packets written wholly to connections that the node accepted
/// @param judged those of them that the node has decoded or refused for certain ([Pipeline])
/// @param unanswered connections that were neither answered to their end nor closed within 20 s,
///     which is a fault
public record AttackCounts(long packets, long judged, long connections, long unanswered) {
  /// Of no run.
  public static final AttackCounts NONE = new AttackCounts(0, 0, 0, 0);

  /// The sum of two runs.
  public AttackCounts plus(AttackCounts other) {
    return new AttackCounts(
        packets + other.packets,
        judged + other.judged,
        connections + other.connections,
        unanswered + other.unanswered);
  }

  /// The text that one process sends to another.
  String text() {
    return packets + " " + judged + " " + connections + " " + unanswered;
  }

  /// Reads [#text].
  public static AttackCounts parse(String text) {
    String[] numbers = text.split(" ");
    return new AttackCounts(
        Long.parseLong(numbers[0]),
        Long.parseLong(numbers[1]),
        Long.parseLong(numbers[2]),
        Long.parseLong(numbers[3]));
  }
}
