package io.pushplanet.cm.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Sweeps the connections of a loop, in rounds: every active connection until it is idle, and a
/// share of the idle ones. A round is cut into slices with pauses between them, so that closing
/// thousands of connections delays neither the loop's other connections nor other threads on its
/// processor. Confined to its loop.
final class Sweep {
  /// Closing a connection takes about ten microseconds, checking one far less than one.
  private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  private final EventLoop loop;
  private final List<Connection> connections;
  private final ArrayList<Connection> watched = new ArrayList<>();
  // Counts down to 0: a connection that fills a freed place comes from the end, so it has been
  // swept already or is new.
  private int watchedLeft;
  private int idleLeft;
  // Idle connections below this index have not been swept in this round.
  private int lookedDownTo;
  private long tookNanos;
  private long beganNanos;
  private long nextNanos;

  Sweep(EventLoop loop, List<Connection> connections) {
    this.loop = loop;
    this.connections = connections;
  }

  void watch(Connection connection) {
    watched.add(connection);
  }

  void begin(long nowNanos) {
    beganNanos = nowNanos;
    nextNanos = nowNanos;
    watchedLeft = watched.size();
    idleLeft = Math.ceilDiv(connections.size(), (int) EventLoop.IDLE_SWEEP.toSeconds());
    tookNanos = 0;
  }

  boolean isUnderWay() {
    return watchedLeft > 0 || idleLeft > 0;
  }

  /// Connections that have not been swept wait for the next round.
  void abandon() {
    watchedLeft = 0;
    idleLeft = 0;
  }

  /// How long the current round has taken so far.
  long tookNanos() {
    return tookNanos;
  }

  /// When the next slice of the current round is due.
  long nextNanos() {
    return nextNanos;
  }

  /// Sweeps one slice, unless the round pauses.
  void slice() {
    long startNanos = loop.clock();
    if (startNanos - nextNanos < 0) {
      return;
    }
    long took = 0;
    while (isUnderWay() && took < SLICE_NANOS) {
      if (watchedLeft > 0) {
        lookAtWatched(--watchedLeft);
      } else {
        idleLeft--;
        lookAtIdle();
      }
      took = loop.clock() - startNanos;
    }
    tookNanos += took;
    long endNanos = startNanos + took;
    // The next round is due already, so this one has no time for pauses.
    boolean isLate = endNanos - beganNanos > EventLoop.SWEEP_NANOS;
    nextNanos = isLate ? endNanos : endNanos + PAUSE_NANOS;
  }

  private void lookAtWatched(int index) {
    Connection connection = watched.get(index);
    if (!loop.sweep(connection)) {
      connection.unwatched();
      watched.set(index, watched.getLast());
      watched.removeLast();
    }
  }

  private void lookAtIdle() {
    lookedDownTo = Math.min(lookedDownTo, connections.size());
    if (lookedDownTo == 0) {
      lookedDownTo = connections.size();
    }
    if (lookedDownTo > 0) {
      lookedDownTo--;
      Connection connection = connections.get(lookedDownTo);
      if (!connection.isWatched() && loop.sweep(connection)) {
        connection.watch();
      }
    }
  }
}
