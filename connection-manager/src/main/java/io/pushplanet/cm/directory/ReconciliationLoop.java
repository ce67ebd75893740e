package io.pushplanet.cm.directory;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Compares the node's sessions with the directory, a few at a time, on a thread of its own.
final class ReconciliationLoop {
  private static final Logger LOG = LoggerFactory.getLogger(ReconciliationLoop.class);

  private final Reconciliation reconciliation;
  private final InboxPatrol patrol;
  private final DirectoryHealth health;
  private final PendingReleases pendingReleases;
  private final Runnable sendPendingReleases;
  private final CountDownLatch stopped = new CountDownLatch(1);

  ReconciliationLoop(
      Reconciliation reconciliation,
      InboxPatrol patrol,
      DirectoryHealth health,
      PendingReleases pendingReleases,
      Runnable sendPendingReleases) {
    this.reconciliation = reconciliation;
    this.patrol = patrol;
    this.health = health;
    this.pendingReleases = pendingReleases;
    this.sendPendingReleases = sendPendingReleases;
  }

  void start() {
    Thread.ofVirtual()
        .name("cm-compare")
        .start(() -> {
          for (Duration pause = pause(); !awaitStop(pause); pause = pause()) {
            compareNext(pause);
          }
        });
  }

  void stop() {
    stopped.countDown();
  }

  /// How long to wait before [#compareNext].
  Duration pause() {
    return reconciliation.pause(!pendingReleases.isEmpty());
  }

  /// Compares the next few sessions, or all after the directory was away. One thread at a time may
  /// call it.
  ///
  /// @param pause that has passed since the last call; releases that became pending during it
  ///     shorten the next pause, not this one
  void compareNext(Duration pause) {
    try {
      patrol.catchUp();
      reconciliation.next(pause);
      sendPendingReleases.run();
    } catch (RuntimeException | Error bug) {
      LOG.error("event=comparison_error", bug);
    }
  }

  /// Returns early when the directory goes away: until the loop notices that the directory is back,
  /// devices are told that they have no session.
  ///
  /// @return whether the loop has to end
  private boolean awaitStop(Duration length) {
    long end = System.nanoTime() + length.toNanos();
    long slice = Reconciliation.PAUSE_WHILE_AWAY.toNanos();
    try {
      for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
        if (stopped.await(Math.min(left, slice), TimeUnit.NANOSECONDS)) {
          return true;
        }
        if (!health.isReachable()) {
          return false;
        }
      }
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return true;
    }
  }
}
