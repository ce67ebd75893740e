package io.pushplanet.gateway.lane;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.order.Line;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The places of a lane for requests to its provider, shared by apps so that none of them can have all:
///
/// - an app may hold [#SHARE] times as many as are free: alone four fifths, two that flood four ninths each; there is
///   always room for one more app;
/// - an app whose answers take longer than [#SLOW] may hold a [#OF_A_SLOW_APP]th;
/// - where an app's places are all taken and no answer has come for [#PATIENCE], or it is slow, nobody waits for one: what
///   waits here holds its broker's message, and those are few.
///
/// An app's requests get places in the order they came. From a full queue thousands wait here at once, and a virtual thread that
/// waits with a timeout wakes the scheduler's timer thread twice: so they wait without, and somebody looks after them ([#look]).
///
/// Thread-safe; calls block.
public final class Places {
  static final Duration SLOW = Duration.ofSeconds(2);
  static final Duration PATIENCE = Duration.ofSeconds(3);

  static final Duration SOONEST_BACK = Duration.ofSeconds(5);
  static final Duration SOON_BACK = Duration.ofSeconds(30);
  static final Duration LATEST_BACK = Duration.ofMinutes(5);

  /// Between two of all the apps that are stuck, where nobody knows of anything better: each costs MySQL and the broker some writes.
  private static final Duration BACK_EVERY = Duration.ofMillis(1);

  private static final int SHARE = 4;
  private static final int OF_A_SLOW_APP = 8;

  /// How much one answer says of the next.
  private static final double WEIGHT = 0.125;

  private final int most;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final Map<AppId, Held> apps = new HashMap<>();

  @GuardedBy("lock")
  private int free;

  /// Of all apps; who was let in counts until it goes on.
  @GuardedBy("lock")
  private int waiting;

  /// Apps, when [#look] was called last.
  @GuardedBy("lock")
  private int stuck;

  /// An app that has or wants places.
  private final class Held {
    final Line line = new Line(lock);
    int held;
    double usualNanos;
    long movedNanos;

    /// When the last of those that were sent away comes back.
    long lastBackNanos;

    Held(long nowNanos) {
      this.lastBackNanos = nowNanos;
    }
  }

  /// @param nanoTime as [System#nanoTime]
  Places(int most, LongSupplier nanoTime) {
    this.most = most;
    this.free = most;
    this.nanoTime = nanoTime;
  }

  int taken() {
    lock.lock();
    try {
      return most - free;
    } finally {
      lock.unlock();
    }
  }

  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /// Waits for a place while the app's requests go on being answered and somebody calls [#look].
  ///
  /// @return whether there was one; then [#leave] must be called
  public boolean enter(AppId name) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      Held app = apps.computeIfAbsent(name, _ -> new Held(nanoTime.getAsLong()));
      if (app.line.isEmpty() && hasRoom(app)) {
        take(app);
        return true;
      }
      // Who is stuck holds something, so it is not forgotten.
      return !isStuck(app) && await(name, app);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean await(AppId name, Held app) throws InterruptedException {
    waiting++;
    try {
      return app.line.await();
    } finally {
      waiting--;
      forgetIfIdle(name, app);
    }
  }

  /// When to come back for who got no place: as many as the app gets done meanwhile have come back before, so that a backlog does not
  /// go round all at once again and again. A provider that answers nothing gets nothing done, and may answer again any moment: nobody
  /// waits for longer than [#SOON_BACK] therefore, unless more than one each [#BACK_EVERY] came back then. That holds where answers
  /// are slow, too: each request that times out is taken for one. Who comes when there is room gets in, whatever was said.
  ///
  /// @return [#SOONEST_BACK] to [#LATEST_BACK]
  public Duration backIn(AppId name) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        return SOONEST_BACK;
      }
      long now = nanoTime.getAsLong();
      double each = Math.max(app.usualNanos, now - app.movedNanos) / Math.max(1, app.held);
      long inTurn = app.lastBackNanos + (long) each;
      long soon =
          Math.max(
              now + SOON_BACK.toNanos(),
              app.lastBackNanos + Math.max(1, stuck) * BACK_EVERY.toNanos());
      app.lastBackNanos =
          Math.clamp(
              Math.min(inTurn, soon), now + SOONEST_BACK.toNanos(), now + LATEST_BACK.toNanos());
      return Duration.ofNanos(app.lastBackNanos - now);
    } finally {
      lock.unlock();
    }
  }

  /// @param enteredNanos when the request began
  public void leave(AppId name, long enteredNanos) {
    lock.lock();
    try {
      Held app = apps.get(name);
      if (app == null) {
        throw new IllegalStateException(name + " holds no place");
      }
      app.movedNanos = nanoTime.getAsLong();
      app.usualNanos += WEIGHT * (app.movedNanos - enteredNanos - app.usualNanos);
      app.held--;
      free++;
      letIn();
      forgetIfIdle(name, app);
    } finally {
      lock.unlock();
    }
  }

  /// Lets those give up who have waited for too long; to be called several times a second while anybody waits.
  void look() {
    lock.lock();
    try {
      stuck = 0;
      for (Held app : apps.values()) {
        if (isStuck(app)) {
          stuck++;
          app.line.sendAllAway();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean hasRoom(Held app) {
    return free > 0 && app.held < (isSlow(app) ? Math.max(1, most / OF_A_SLOW_APP) : SHARE * free);
  }

  private static boolean isSlow(Held app) {
    return app.usualNanos > SLOW.toNanos();
  }

  /// One that holds nothing only waits for others, who have not long to go on.
  @GuardedBy("lock")
  private boolean isStuck(Held app) {
    return app.held > 0
        && (isSlow(app) || nanoTime.getAsLong() - app.movedNanos >= PATIENCE.toNanos());
  }

  @GuardedBy("lock")
  private void take(Held app) {
    if (app.held == 0) {
      app.movedNanos = nanoTime.getAsLong();
    }
    app.held++;
    free--;
  }

  @GuardedBy("lock")
  private void letIn() {
    Held next = next();
    while (next != null) {
      take(next);
      next.line.letFirstIn();
      next = next();
    }
  }

  /// Who holds least comes first.
  @GuardedBy("lock")
  private @Nullable Held next() {
    if (free == 0 || waiting == 0) {
      return null;
    }
    Held next = null;
    for (Held app : apps.values()) {
      if (!app.line.isEmpty() && hasRoom(app) && (next == null || app.held < next.held)) {
        next = app;
      }
    }
    return next;
  }

  @GuardedBy("lock")
  private void forgetIfIdle(AppId name, Held app) {
    // What is known of a slow one is kept while it has anything here; then it starts anew.
    if (app.held == 0 && app.line.isEmpty()) {
      apps.remove(name, app);
    }
  }
}
