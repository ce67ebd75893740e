package io.pushplanet.load.fleet;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The state of a fleet.
///
/// @param ready devices that are subscribed now
/// @param connects handshakes that ended with a SUBACK
/// @param cuts later ends of connections that the fleet did not want
/// @param refused handshakes that the server refused or that failed
/// @param received messages without the `repeated` ones, which must not stand for messages that
///     other devices did not get
/// @param repeated messages that a device got twice in a row
public record FleetCounts(
    int devices, int ready, long connects, long cuts, long refused, long received, long repeated) {

  /// The sum of two fleets.
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

  /// How many messages are missing or came again.
  ///
  /// @param sent to these devices
  public long missed(long sent) {
    return repeated + Math.abs(sent - received);
  }

  /// The text that one process sends to another.
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
