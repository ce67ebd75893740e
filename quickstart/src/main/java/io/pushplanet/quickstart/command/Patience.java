package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Progress;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// A bounded wait that does not leave the user in silence.
///
/// @param silence after this time it says once what it waits for
/// @param atMost the whole wait, longer than `silence`
record Patience(Duration silence, Duration atMost, Progress progress) {

  /// @param whom asked for its text when the wait is reported
  /// @param comes waits at most as long as its argument, and returns whether the event has come; it
  ///     is called again after a "no"
  /// @return whether it came in time
  boolean await(Supplier<String> whom, Predicate<Duration> comes) {
    if (comes.test(silence)) {
      return true;
    }
    progress.tell("  waiting for " + whom.get() + ", " + atMost.toSeconds() + " s at most");
    return comes.test(atMost.minus(silence));
  }
}
