package io.pushplanet.cm.transport;

import java.time.Duration;
import java.util.function.LongSupplier;

/// Handles the end of a standstill: the process was stopped (SIGSTOP), or its machine was paused or
/// starved.
@FunctionalInterface
public interface Standstill {
  /// Runs on the loop before it reads any of the bytes that have arrived meanwhile. Only here may a
  /// loop block: it has stood still for seconds already, and may no longer own its devices. It runs
  /// on every loop of a process that stood still.
  ///
  /// @param nanoTime the loop's clock
  /// @return the clock's reading as of which the loop may go on: if the loop stands still after it,
  ///     even while this method returns, the method runs once more
  long over(Loop loop, Duration gap, LongSupplier nanoTime);
}
