package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/// Sessions whose device another node may own by now. They are compared with the directory at once,
/// on a worker; sessions that are added during a comparison are compared together in the next one.
/// Thread-safe; callers never wait.
final class DoubtedSessions {
  private static final int MAX = 10_000;

  private final Reconciliation reconciliation;
  private final DirectoryHealth health;
  private final DirectoryMetrics metrics;
  private final Executor workers;
  // In the order of arrival, so that a simulated life can be repeated.
  private final Set<DeviceSession> doubted = Collections.synchronizedSet(new LinkedHashSet<>());
  private final AtomicBoolean comparing = new AtomicBoolean();

  DoubtedSessions(
      Reconciliation reconciliation,
      DirectoryHealth health,
      DirectoryMetrics metrics,
      Executor workers) {
    this.reconciliation = reconciliation;
    this.health = health;
    this.metrics = metrics;
    this.workers = workers;
  }

  void add(DeviceSession session) {
    metrics.doubted.increment();
    if (health.isReachable() && doubted.size() < MAX) {
      doubted.add(session);
      compare();
    }
  }

  private void compare() {
    if (!doubted.isEmpty() && comparing.compareAndSet(false, true)) {
      workers.execute(() -> {
        var some = List.copyOf(doubted);
        some.forEach(doubted::remove);
        try {
          reconciliation.some(some);
        } finally {
          comparing.set(false);
        }
        compare();
      });
    }
  }
}
