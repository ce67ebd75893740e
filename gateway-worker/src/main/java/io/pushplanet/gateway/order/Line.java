package io.pushplanet.gateway.order;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/// Those who wait for room, first come, first served. Whoever makes room gives it to the first of them, then and there: if the
/// first were only woken to look for it, others who come just then would have taken it, and under a load that does not end it
/// would wait as long as the load lasts.
///
/// Every call with the lock of whoever counts the room.
public final class Line {
  private final Lock lock;
  private final Deque<Waiter> waiters = new ArrayDeque<>();

  private static final class Waiter {
    final Condition called;
    @Nullable Boolean isIn;

    Waiter(Condition called) {
      this.called = called;
    }
  }

  public Line(Lock lock) {
    this.lock = lock;
  }

  public boolean isEmpty() {
    return waiters.isEmpty();
  }

  public int length() {
    return waiters.size();
  }

  /// Joins the line, without the lock meanwhile, for as long as it takes.
  ///
  /// @return true when there is room, which is its own from then on; false when it was sent away
  /// @throws InterruptedException when it got no room; else it stays interrupted
  public boolean await() throws InterruptedException {
    Waiter mine = join();
    try {
      while (mine.isIn == null) {
        mine.called.await();
      }
      return mine.isIn;
    } catch (InterruptedException e) {
      return interrupted(mine, e);
    }
  }

  /// As [#await()], but false also when there was no room within `atMost`.
  public boolean await(Duration atMost) throws InterruptedException {
    Waiter mine = join();
    try {
      long leftNanos = atMost.toNanos();
      while (mine.isIn == null && leftNanos > 0) {
        leftNanos = mine.called.awaitNanos(leftNanos);
      }
      if (mine.isIn == null) {
        waiters.remove(mine);
        return false;
      }
      return mine.isIn;
    } catch (InterruptedException e) {
      return interrupted(mine, e);
    }
  }

  /// Its room has been counted as taken.
  ///
  /// @throws java.util.NoSuchElementException when nobody waits
  public void letFirstIn() {
    call(waiters.removeFirst(), true);
  }

  public void sendAllAway() {
    waiters.forEach(waiter -> call(waiter, false));
    waiters.clear();
  }

  private Waiter join() {
    Waiter mine = new Waiter(lock.newCondition());
    waiters.addLast(mine);
    return mine;
  }

  private static void call(Waiter waiter, boolean isIn) {
    waiter.isIn = isIn;
    waiter.called.signal();
  }

  private boolean interrupted(Waiter mine, InterruptedException e) throws InterruptedException {
    if (mine.isIn == null) {
      waiters.remove(mine);
      throw e;
    }
    Thread.currentThread().interrupt();
    return mine.isIn;
  }
}
