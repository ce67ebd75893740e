package io.pushplanet.gateway.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.order.Line;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/// Lets so many requests of one credential through at a time. What is high never waits behind what is normal: a tenth of the
/// room is kept for it, and a place that becomes free is its own first. Among equals, who came first goes first. Thread-safe.
public final class Turnstile {
  private final int room;
  private final int roomForNormal;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Line high = new Line(lock);

  @GuardedBy("lock")
  private final Line normal = new Line(lock);

  @GuardedBy("lock")
  private int inside;

  public Turnstile(int room) {
    this.room = room;
    this.roomForNormal = room - room / 10;
  }

  /// @return whether there was room within `atMost`; then [#leave] must be called
  public boolean enter(Priority priority, Duration atMost) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      Line line = line(priority);
      if (line.isEmpty() && hasRoom(priority)) {
        inside++;
        return true;
      }
      try {
        return line.await(atMost);
      } finally {
        // Of those that are normal, for who was high and has given up.
        letIn();
      }
    } finally {
      lock.unlock();
    }
  }

  /// After [#enter] returned true.
  public void leave() {
    lock.lock();
    try {
      inside--;
      letIn();
    } finally {
      lock.unlock();
    }
  }

  public int waiting() {
    lock.lock();
    try {
      return high.length() + normal.length();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean hasRoom(Priority priority) {
    return switch (priority) {
      case HIGH -> inside < room;
      case NORMAL -> inside < roomForNormal && high.isEmpty();
    };
  }

  @GuardedBy("lock")
  private void letIn() {
    letIn(Priority.HIGH);
    letIn(Priority.NORMAL);
  }

  @GuardedBy("lock")
  private void letIn(Priority priority) {
    Line line = line(priority);
    while (!line.isEmpty() && hasRoom(priority)) {
      inside++;
      line.letFirstIn();
    }
  }

  @GuardedBy("lock")
  private Line line(Priority priority) {
    return switch (priority) {
      case HIGH -> high;
      case NORMAL -> normal;
    };
  }
}
