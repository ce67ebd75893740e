package io.pushplanet.dashboard.node;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a connection manager says of itself on `GET /node`, as far as the page shows it.
///
/// @param version absent where it was not built as a jar
record NodeFigures(@Nullable String version, int sessions, Drain drain, Numbers numbers) {

  /// @param state `OPEN`, `CLOSING`, `MOVING` or `EMPTY`
  /// @param told devices that were sent elsewhere
  record Drain(String state, int perSecond, int sessionsAtStart, long told, long secondsLeft) {}

  /// Counts are since the start of the node.
  ///
  /// @param bytesPerSession absent while it has too few devices to tell
  record Numbers(
      @Nullable Long bytesPerSession,
      double connectsPerSecond,
      Map<String, Long> refused,
      long inFlight,
      long published,
      long redelivered,
      Map<String, Long> dropped,
      long deadPaths,
      long fenced,
      Times loopLag,
      Times sweep,
      Times connect,
      Times takeover,
      Times publishToWrite,
      Times publishToAck) {}

  record Times(long count, double meanMillis, double p99Millis, double maxMillis) {}
}
