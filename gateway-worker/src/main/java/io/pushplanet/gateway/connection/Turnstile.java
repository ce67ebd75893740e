package io.pushplanet.gateway.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// Lets so many requests of one credential through at a time. What is high never waits behind what is normal: a tenth of the
/// room is kept for it, and a place that becomes free is its own first. Thread-safe.
public final class Turnstile {
  private final int room;
  private final int roomForNormal;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Condition high = lock.newCondition();

  @GuardedBy("lock")
  private final Condition normal = lock.newCondition();

  @GuardedBy("lock")
  private int inside;

  @GuardedBy("lock")
  private int highWaiting;

  @GuardedBy("lock")
  private int normalWaiting;

  public Turnstile(int room) {
    this.room = room;
    this.roomForNormal = room - room / 10;
  }

  /// @return whether there was room within `atMost`; then [#leave] must be called
  public boolean enter(Priority priority, Duration atMost) throws InterruptedException {
    long leftNanos = atMost.toNanos();
    lock.lockInterruptibly();
    try {
      count(priority, 1);
      try {
        while (!hasRoom(priority)) {
          if (leftNanos <= 0) {
            return false;
          }
          leftNanos = queue(priority).awaitNanos(leftNanos);
        }
        inside++;
        return true;
      } finally {
        count(priority, -1);
        callNext();
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
      callNext();
    } finally {
      lock.unlock();
    }
  }

  int waiting() {
    lock.lock();
    try {
      return highWaiting + normalWaiting;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean hasRoom(Priority priority) {
    return switch (priority) {
      case HIGH -> inside < room;
      case NORMAL -> inside < roomForNormal && highWaiting == 0;
    };
  }

  /// Whoever is called and enters, or gives up, calls the next.
  @GuardedBy("lock")
  private void callNext() {
    if (highWaiting > 0) {
      if (hasRoom(Priority.HIGH)) {
        high.signal();
      }
    } else if (normalWaiting > 0 && hasRoom(Priority.NORMAL)) {
      normal.signal();
    }
  }

  @GuardedBy("lock")
  private Condition queue(Priority priority) {
    return switch (priority) {
      case HIGH -> high;
      case NORMAL -> normal;
    };
  }

  @GuardedBy("lock")
  private void count(Priority priority, int change) {
    switch (priority) {
      case HIGH -> highWaiting += change;
      case NORMAL -> normalWaiting += change;
    }
  }
}
