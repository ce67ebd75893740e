package io.pushplanet.gateway.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.order.WaitQueue;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/// Limits how many requests of one credential are under way. Requests of high priority never wait
/// behind normal ones: a tenth of the permits is kept for them, and a permit that becomes free goes
/// to them first. Within a priority, the request that came first goes first. Thread-safe.
public final class PriorityBulkhead {
  private final int permits;
  private final int permitsForNormal;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final WaitQueue high = new WaitQueue(lock);

  @GuardedBy("lock")
  private final WaitQueue normal = new WaitQueue(lock);

  @GuardedBy("lock")
  private int taken;

  public PriorityBulkhead(int permits) {
    this.permits = permits;
    this.permitsForNormal = permits - permits / 10;
  }

  /// @return whether the caller got a permit within `atMost`; then it must call [#release]
  public boolean acquire(Priority priority, Duration atMost) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      WaitQueue queue = queue(priority);
      if (queue.isEmpty() && hasPermitFor(priority)) {
        taken++;
        return true;
      }
      try {
        return queue.await(atMost);
      } finally {
        // A request of high priority that gives up may have held back normal ones.
        admit();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Gives a permit of [#acquire] back.
  public void release() {
    lock.lock();
    try {
      taken--;
      admit();
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
  private boolean hasPermitFor(Priority priority) {
    return switch (priority) {
      case HIGH -> taken < permits;
      case NORMAL -> taken < permitsForNormal && high.isEmpty();
    };
  }

  @GuardedBy("lock")
  private void admit() {
    admit(Priority.HIGH);
    admit(Priority.NORMAL);
  }

  @GuardedBy("lock")
  private void admit(Priority priority) {
    WaitQueue queue = queue(priority);
    while (!queue.isEmpty() && hasPermitFor(priority)) {
      taken++;
      queue.admitFirst();
    }
  }

  @GuardedBy("lock")
  private WaitQueue queue(Priority priority) {
    return switch (priority) {
      case HIGH -> high;
      case NORMAL -> normal;
    };
  }
}
