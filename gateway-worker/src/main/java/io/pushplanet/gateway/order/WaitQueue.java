package io.pushplanet.gateway.order;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/// Threads that wait for room, first come, first served. The thread that makes room hands it to the
/// first waiter at once. If the waiter were only woken to look for room, a thread that came just
/// then would have taken it, and under a load that does not end the waiter would wait as long as
/// the load lasts.
///
/// Every call must hold the lock that guards the count of the room.
public final class WaitQueue {
  private final Lock lock;
  private final Deque<Waiter> waiters = new ArrayDeque<>();

  private static final class Waiter {
    final Condition decided;
    @Nullable Boolean admitted;

    Waiter(Condition decided) {
      this.decided = decided;
    }
  }

  public WaitQueue(Lock lock) {
    this.lock = lock;
  }

  public boolean isEmpty() {
    return waiters.isEmpty();
  }

  public int length() {
    return waiters.size();
  }

  /// Waits for as long as it takes, and releases the lock meanwhile.
  ///
  /// @return true when the caller has room; false when it was refused
  /// @throws InterruptedException when the caller has no room. A thread that is interrupted after
  ///     it was given room has it, and stays interrupted
  public boolean await() throws InterruptedException {
    Waiter mine = join();
    try {
      while (mine.admitted == null) {
        mine.decided.await();
      }
      return mine.admitted;
    } catch (InterruptedException e) {
      return interrupted(mine, e);
    }
  }

  /// As [#await()], but false also where there was no room within `atMost`.
  public boolean await(Duration atMost) throws InterruptedException {
    Waiter mine = join();
    try {
      long leftNanos = atMost.toNanos();
      while (mine.admitted == null && leftNanos > 0) {
        leftNanos = mine.decided.awaitNanos(leftNanos);
      }
      if (mine.admitted == null) {
        waiters.remove(mine);
        return false;
      }
      return mine.admitted;
    } catch (InterruptedException e) {
      return interrupted(mine, e);
    }
  }

  /// Gives room to the first waiter; the caller has counted it as taken.
  ///
  /// @throws java.util.NoSuchElementException when no thread waits
  public void admitFirst() {
    decide(waiters.removeFirst(), true);
  }

  public void refuseAll() {
    waiters.forEach(waiter -> decide(waiter, false));
    waiters.clear();
  }

  private Waiter join() {
    Waiter mine = new Waiter(lock.newCondition());
    waiters.addLast(mine);
    return mine;
  }

  private static void decide(Waiter waiter, boolean admitted) {
    waiter.admitted = admitted;
    waiter.decided.signal();
  }

  private boolean interrupted(Waiter mine, InterruptedException e) throws InterruptedException {
    if (mine.admitted == null) {
      waiters.remove(mine);
      throw e;
    }
    Thread.currentThread().interrupt();
    return mine.admitted;
  }
}
