package io.pushplanet.cm.transport;

import java.time.Duration;

/// What to do after a loop stood still: the process was stopped (SIGSTOP), its machine paused, or starved.
@FunctionalInterface
public interface Standstill {
  /// Runs on the loop before anything that waited meanwhile is read. The only place where a loop may block: it has stood still
  /// for seconds already, and what it does next may not be its right any more. Every loop of a process that stood still is told,
  /// each for itself.
  void over(Loop loop, Duration gap);
}
