package io.pushplanet.cm.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// One round looks at every connection of a loop on which something is going on, until nothing is, and at a share of the
/// others. In slices with pauses between them: when thousands have to be closed at once, neither those who are served by this
/// loop wait for it nor others on its processor. Confined to its loop.
final class Sweep {
  /// Closing takes some ten microseconds, looking far less than one.
  private static final long SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  private final EventLoop loop;
  private final List<Connection> connections;
  private final ArrayList<Connection> watched = new ArrayList<>();
  // From the last to the first: who takes the place of one that left comes from the end, and has
  // been looked at, or has just come.
  private int watchedLeft;
  private int idleLeft;
  // Connections before it have not been looked at, of those that stood there when this round of
  // idle ones began.
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
    idleLeft = Math.ceilDiv(connections.size(), (int) EventLoop.IDLE_LOOK.toSeconds());
    tookNanos = 0;
  }

  boolean isUnderWay() {
    return watchedLeft > 0 || idleLeft > 0;
  }

  /// Those who have not been looked at wait for the next round.
  void abandon() {
    watchedLeft = 0;
    idleLeft = 0;
  }

  /// What the round has taken until now.
  long tookNanos() {
    return tookNanos;
  }

  /// When the next slice is due of a round that is under way.
  long nextNanos() {
    return nextNanos;
  }

  /// Does nothing while it pauses.
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
    // Behind such a round the next one waits: it has no time for pauses.
    boolean isLate = endNanos - beganNanos > EventLoop.SWEEP_NANOS;
    nextNanos = isLate ? endNanos : endNanos + PAUSE_NANOS;
  }

  private void lookAtWatched(int index) {
    var connection = watched.get(index);
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
      var connection = connections.get(lookedDownTo);
      if (!connection.isWatched() && loop.sweep(connection)) {
        connection.watch();
      }
    }
  }
}
