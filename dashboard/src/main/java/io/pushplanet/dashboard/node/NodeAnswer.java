package io.pushplanet.dashboard.node;

import io.pushplanet.common.session.NodeFigures;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// What a connection manager answers to `GET /node`, as far as the page shows it.
///
/// @param version absent where it was not built as a jar
record NodeAnswer(@Nullable String version, int sessions, Drain drain, NodeFigures numbers) {
  NodeAnswer {
    Objects.requireNonNull(drain, "drain");
    Objects.requireNonNull(numbers, "numbers");
  }

  /// @param state `OPEN`, `CLOSING`, `MOVING` or `EMPTY`
  /// @param told devices that were sent elsewhere
  record Drain(String state, int perSecond, int sessionsAtStart, long told, long secondsLeft) {
    Drain {
      Objects.requireNonNull(state, "state");
    }
  }
}
