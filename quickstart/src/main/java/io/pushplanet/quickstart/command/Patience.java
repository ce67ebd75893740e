package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Progress;
import java.time.Duration;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// A bounded wait that does not leave the user in silence.
///
/// @param silence after so long it says for whom it waits, once
/// @param atMost the whole wait, longer than `silence`
record Patience(Duration silence, Duration atMost, Progress progress) {

  /// @param whom asked when it is said
  /// @param comes waits at most as long as it is told, and says whether it has come; asked again after a "no"
  /// @return whether it came in time
  boolean await(Supplier<String> whom, Predicate<Duration> comes) {
    if (comes.test(silence)) {
      return true;
    }
    progress.tell("  waiting for " + whom.get() + ", " + atMost.toSeconds() + " s at most");
    return comes.test(atMost.minus(silence));
  }
}
