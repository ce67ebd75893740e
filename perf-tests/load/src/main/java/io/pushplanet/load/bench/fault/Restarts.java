package io.pushplanet.load.bench.fault;

import io.pushplanet.load.node.PlatformProcess;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/// Processes that are killed and started again: how many, and how long they are away. Thread-safe.
final class Restarts {
  private static final int LONGEST_MILLIS = 600_000;

  private final Histogram millis = new Histogram(LONGEST_MILLIS, 3);

  /// Kills a process (kill -9) and starts it again. Returns when it is ready.
  ///
  /// @return how many were killed so far
  int kill(PlatformProcess process) {
    long start = System.nanoTime();
    process.kill9();
    process.start();
    return back(System.nanoTime() - start);
  }

  private synchronized int back(long tookNanos) {
    millis.recordValue(TimeUnit.NANOSECONDS.toMillis(tookNanos));
    return count();
  }

  synchronized int count() {
    return Math.toIntExact(millis.getTotalCount());
  }

  /// From the kill until the process is ready.
  synchronized long medianMillis() {
    return millis.getValueAtPercentile(50);
  }
}
