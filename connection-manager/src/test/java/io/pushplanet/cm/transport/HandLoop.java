package io.pushplanet.cm.transport;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;

/// A loop that is turned by hand; its time is moved by hand, too.
public class HandLoop implements Loop {
  public long nowNanos;

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final PriorityQueue<Later> later =
      new PriorityQueue<>(Comparator.comparingLong(Later::dueNanos));

  private record Later(long dueNanos, Runnable task) {}

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  @Override
  public void executeAfter(Duration wait, Runnable task) {
    later.add(new Later(nowNanos + wait.toNanos(), task));
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }

  /// Turns until nothing is left to do at this time.
  public final void turn() {
    while (hasWork()) {
      turnOnce();
    }
  }

  /// Runs one turn as a real loop does: new tasks wait for the next turn.
  public final void turnOnce() {
    while (isDue()) {
      tasks.add(later.remove().task());
    }
    for (int left = tasks.size(); left > 0; left--) {
      run(tasks.remove());
    }
  }

  public final boolean hasWork() {
    return !tasks.isEmpty() || isDue();
  }

  /// Tasks that wait for the next turn.
  public final int tasks() {
    return tasks.size();
  }

  /// Tasks that wait for their time.
  public final int timers() {
    return later.size();
  }

  /// A failing task fails the test.
  protected void run(Runnable task) {
    task.run();
  }

  private boolean isDue() {
    Later first = later.peek();
    return first != null && first.dueNanos() - nowNanos <= 0;
  }
}
