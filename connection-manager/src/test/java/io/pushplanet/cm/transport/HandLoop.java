package io.pushplanet.cm.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/// A loop that is turned by hand; its time is moved by hand, too.
public class HandLoop implements Loop {
  public long nowNanos;

  private final Queue<Runnable> tasks = new ArrayDeque<>();

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  @Override
  public void executeAfter(Duration wait, Runnable task) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }

  /// Runs tasks until none is left.
  public void turn() {
    for (var next = tasks.poll(); next != null; next = tasks.poll()) {
      next.run();
    }
  }
}
