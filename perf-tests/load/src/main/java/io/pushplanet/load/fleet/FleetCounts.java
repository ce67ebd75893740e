package io.pushplanet.load.fleet;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// How a fleet is doing.
///
/// @param ready devices that are subscribed just now
/// @param connects handshakes that ended with a SUBACK
/// @param cuts connections that ended without our wish after that
/// @param refused handshakes the server refused or that did not come through
/// @param received messages, but for those that are `repeated`: none may stand for one that another device did not get
/// @param repeated messages that a device got twice running
public record FleetCounts(
    int devices, int ready, long connects, long cuts, long refused, long received, long repeated) {

  /// Of two fleets together.
  public FleetCounts plus(FleetCounts other) {
    return new FleetCounts(
        devices + other.devices,
        ready + other.ready,
        connects + other.connects,
        cuts + other.cuts,
        refused + other.refused,
        received + other.received,
        repeated + other.repeated);
  }

  /// As one process tells another.
  String text() {
    return String.format(
        Locale.ROOT,
        "%d %d %d %d %d %d %d",
        devices,
        ready,
        connects,
        cuts,
        refused,
        received,
        repeated);
  }

  /// Reads [#text].
  public static FleetCounts parse(String text) {
    List<Long> numbers = Arrays.stream(text.split(" ")).map(Long::parseLong).toList();
    return new FleetCounts(
        Math.toIntExact(numbers.get(0)),
        Math.toIntExact(numbers.get(1)),
        numbers.get(2),
        numbers.get(3),
        numbers.get(4),
        numbers.get(5),
        numbers.get(6));
  }
}
