package io.pushplanet.load.hostile;

import java.time.Duration;

/// One run of mutated packets, until the node has decoded or refused a number of them or the time
/// is over.
///
/// @param packets decoded or refused
/// @param perSecond connections; 0: as fast as possible
public record AttackPlan(long packets, int threads, double perSecond, Duration atMost) {

  /// The text that one process sends to another.
  public String text() {
    return packets + " " + threads + " " + perSecond + " " + atMost.toMillis();
  }

  /// Reads [#text].
  static AttackPlan parse(String text) {
    String[] numbers = text.split(" ");
    return new AttackPlan(
        Long.parseLong(numbers[0]),
        Integer.parseInt(numbers[1]),
        Double.parseDouble(numbers[2]),
        Duration.ofMillis(Long.parseLong(numbers[3])));
  }
}
