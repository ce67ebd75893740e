package io.pushplanet.cm.transport;

import java.time.Duration;

/// What to do after a loop stood still: the process was stopped (SIGSTOP), its machine paused, or starved.
@FunctionalInterface
public interface Standstill {
  /// Runs on the loop before anything that waited meanwhile is read. The only place where a loop may block: it has stood still
  /// for seconds already, and what it does next may not be its right any more. Must return within seconds.
  void over(Duration gap);
}
