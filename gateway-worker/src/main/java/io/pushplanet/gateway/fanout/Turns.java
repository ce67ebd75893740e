package io.pushplanet.gateway.fanout;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.order.WaitQueue;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Whose order is expanded next. So many steps go on side by side. The orders that wait are grouped
/// by app, and a turn that becomes free goes to the app whose last turn is longest ago: an app with
/// two hundred broadcasts and an app with one take turns.
///
/// An app gets no turn while a [Passage] of its last step's messages is full: a lane, where other
/// apps' messages would wait behind its whole broadcast, or a vendor's quota. When its last step
/// began [#PATIENCE] ago it gets one all the same, because it may be others' messages that fill it.
///
/// Thread-safe; only [#acquire] blocks.
final class Turns {
  static final Duration PATIENCE = Duration.ofSeconds(30);

  /// An app with steps under way, orders that wait, or a step not long ago.
  private final class App {
    final AppId name;
    final WaitQueue waiting = new WaitQueue(lock);
    int steps;
    Set<Passage> filled = Set.of();

    /// When its last step began; before the first one, when the app came.
    long turnNanos = nanoTime.getAsLong();

    App(AppId name) {
      this.name = name;
    }
  }

  private final int mostSteps;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();

  /// In the order of their last turns; an app that comes anew is behind all others.
  @GuardedBy("lock")
  private final SequencedMap<AppId, App> apps = new LinkedHashMap<>();

  /// The passages that were full when they were last looked at. One that no order waits for is not
  /// looked at, and may have been drained since.
  @GuardedBy("lock")
  private final Set<Passage> full = new HashSet<>();

  @GuardedBy("lock")
  private int steps;

  @GuardedBy("lock")
  private boolean stopped;

  /// @param nanoTime as [System#nanoTime]
  Turns(int mostSteps, LongSupplier nanoTime) {
    this.mostSteps = mostSteps;
    this.nanoTime = nanoTime;
  }

  /// Waits for the app's turn.
  ///
  /// @return whether the caller has a turn; then it must call [#release]
  /// @throws IllegalStateException after [#stop]
  boolean acquire(AppId name, Duration atMost) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      App app = apps.computeIfAbsent(name, App::new);
      boolean acquired = !stopped && (takeAtOnce(app) || app.waiting.await(atMost));
      if (!acquired && stopped) {
        throw new IllegalStateException("this process is stopping");
      }
      return acquired;
    } finally {
      lock.unlock();
    }
  }

  /// Gives a turn back.
  ///
  /// @param filled what its step's messages must pass
  void release(AppId name, Set<Passage> filled) {
    lock.lock();
    try {
      App app = apps.get(name);
      if (app == null || app.steps == 0) {
        throw new IllegalStateException(name + " has no turn");
      }
      app.steps--;
      app.filled = Set.copyOf(filled);
      steps--;
      admit();
    } finally {
      lock.unlock();
    }
  }

  /// The full passages that orders wait for. Somebody must look at them several times a second, and
  /// tell [#looked].
  Set<Passage> awaited() {
    lock.lock();
    try {
      Set<Passage> passages = new HashSet<>();
      for (App app : apps.values()) {
        if (!app.waiting.isEmpty()) {
          passages.addAll(app.filled);
        }
      }
      passages.retainAll(full);
      return passages;
    } finally {
      lock.unlock();
    }
  }

  /// Lets orders go on. To be called several times a second even where nothing is looked at,
  /// because [#PATIENCE] may have ended.
  ///
  /// @param fullOnes those of the passages that are full
  void looked(Set<Passage> passages, Set<Passage> fullOnes) {
    lock.lock();
    try {
      full.removeAll(passages);
      full.addAll(fullOnes);
      admit();
      apps.values().removeIf(app -> app.steps == 0 && app.waiting.isEmpty() && isPatienceOver(app));
    } finally {
      lock.unlock();
    }
  }

  /// Orders that wait.
  int waiting() {
    lock.lock();
    try {
      return apps.values().stream().mapToInt(app -> app.waiting.length()).sum();
    } finally {
      lock.unlock();
    }
  }

  /// The apps that are remembered.
  Set<AppId> known() {
    lock.lock();
    try {
      return Set.copyOf(apps.keySet());
    } finally {
      lock.unlock();
    }
  }

  /// Ends all waits. There are no turns from now on.
  void stop() {
    lock.lock();
    try {
      stopped = true;
      apps.values().forEach(app -> app.waiting.refuseAll());
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean takeAtOnce(App app) {
    if (steps == mostSteps || !app.waiting.isEmpty() || !mayGoOn(app)) {
      return false;
    }
    take(app);
    return true;
  }

  @GuardedBy("lock")
  private void admit() {
    App next = next();
    while (next != null) {
      take(next);
      next.waiting.admitFirst();
      next = next();
    }
  }

  @GuardedBy("lock")
  private @Nullable App next() {
    if (steps < mostSteps) {
      for (App app : apps.values()) {
        if (!app.waiting.isEmpty() && mayGoOn(app)) {
          return app;
        }
      }
    }
    return null;
  }

  @GuardedBy("lock")
  private void take(App app) {
    steps++;
    app.steps++;
    app.turnNanos = nanoTime.getAsLong();
    apps.putLast(app.name, app);
  }

  @GuardedBy("lock")
  private boolean mayGoOn(App app) {
    return Collections.disjoint(app.filled, full) || isPatienceOver(app);
  }

  private boolean isPatienceOver(App app) {
    return nanoTime.getAsLong() - app.turnNanos > PATIENCE.toNanos();
  }
}
