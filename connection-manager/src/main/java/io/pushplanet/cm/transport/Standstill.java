package io.pushplanet.cm.transport;

import java.time.Duration;
import java.util.function.LongSupplier;

/// What to do after a loop stood still: the process was stopped (SIGSTOP), its machine paused, or starved.
@FunctionalInterface
public interface Standstill {
  /// Runs on the loop before anything that waited meanwhile is read. The only place where a loop may block: it has stood still
  /// for seconds already, and what it does next may not be its right any more. Every loop of a process that stood still is told,
  /// each for itself.
  ///
  /// @param nanoTime the loop's clock
  /// @return the reading of that clock as of which the loop may go on: who stands still after it, even on the way back from here, is told once more
  long over(Loop loop, Duration gap, LongSupplier nanoTime);
}
