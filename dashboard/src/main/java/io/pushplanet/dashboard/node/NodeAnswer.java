package io.pushplanet.dashboard.node;

import io.pushplanet.common.node.NodeFigures;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The part of a connection manager's answer to `GET /node` that the page shows.
///
/// @param version absent when it was not built as a jar
record NodeAnswer(@Nullable String version, int sessions, Drain drain, NodeFigures numbers) {
  NodeAnswer {
    Objects.requireNonNull(drain, "drain");
    Objects.requireNonNull(numbers, "numbers");
  }

  /// @param state `OPEN`, `CLOSING`, `MOVING` or `EMPTY`
  /// @param told the number of devices that were sent to other nodes
  record Drain(String state, int perSecond, int sessionsAtStart, long told, long secondsLeft) {
    Drain {
      Objects.requireNonNull(state, "state");
    }
  }
}
