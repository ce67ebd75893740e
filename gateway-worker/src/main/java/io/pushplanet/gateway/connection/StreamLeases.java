package io.pushplanet.gateway.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.jspecify.annotations.Nullable;

/// What the pool holds: the right to one stream of a connection. A new lease goes to a connection with room, else a
/// connection is opened, one at a time.
///
/// Thread-safe.
final class StreamLeases
    extends BaseKeyedPooledObjectFactory<ConnectionTarget, StreamLeases.StreamLease> {
  /// One stream.
  static final class StreamLease {
    final Http2Connection connection;

    StreamLease(Http2Connection connection) {
      this.connection = connection;
    }
  }

  /// The last try to connect failed a moment ago.
  static final class NotNow extends IOException {
    @Serial private static final long serialVersionUID = 1;

    NotNow() {
      super("the last try to connect failed a moment ago");
    }
  }

  private static final class Held {
    final Http2Connection connection;
    int leases = 1;

    Held(Http2Connection connection) {
      this.connection = connection;
    }
  }

  private static final class PerTarget {
    final List<Held> held = new ArrayList<>();
    boolean opening;
    long noConnectBeforeNanos = System.nanoTime();
  }

  /// After a failed connect the next try waits so long: those who come meanwhile are told at once instead of queueing up to
  /// knock one after the other.
  private static final Duration AFTER_A_FAILURE = Duration.ofSeconds(1);

  private final Http2Connector connector;
  private final ConnectionSettings settings;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  @GuardedBy("lock")
  private final Map<ConnectionTarget, PerTarget> targets = new HashMap<>();

  StreamLeases(Http2Connector connector, ConnectionSettings settings) {
    this.connector = connector;
    this.settings = settings;
  }

  @Override
  public StreamLease create(ConnectionTarget target) throws IOException, InterruptedException {
    Http2Connection shared = sharedOrMineToOpen(target);
    if (shared != null) {
      return new StreamLease(shared);
    }
    Http2Connection opened = null;
    try {
      opened = connector.connect(target, settings.connectTimeout());
      return new StreamLease(opened);
    } finally {
      opened(target, opened);
    }
  }

  /// A connection with room, or null when the caller is to open one.
  private @Nullable Http2Connection sharedOrMineToOpen(ConnectionTarget target)
      throws IOException, InterruptedException {
    long waitNanos = settings.connectTimeout().toNanos();
    lock.lock();
    try {
      PerTarget here = targets.computeIfAbsent(target, _ -> new PerTarget());
      while (true) {
        for (Held held : here.held) {
          if (held.connection.isUsable() && held.leases < settings.streams()) {
            held.leases++;
            return held.connection;
          }
        }
        if (!here.opening) {
          if (System.nanoTime() - here.noConnectBeforeNanos < 0) {
            throw new NotNow();
          }
          here.opening = true;
          return null;
        }
        if (waitNanos <= 0) {
          throw new IOException("waited for another to connect");
        }
        waitNanos = changed.awaitNanos(waitNanos);
      }
    } finally {
      lock.unlock();
    }
  }

  private void opened(ConnectionTarget target, @Nullable Http2Connection connection) {
    lock.lock();
    try {
      PerTarget here = targets.computeIfAbsent(target, _ -> new PerTarget());
      here.opening = false;
      if (connection != null) {
        here.held.add(new Held(connection));
      } else {
        here.noConnectBeforeNanos = System.nanoTime() + AFTER_A_FAILURE.toNanos();
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public PooledObject<StreamLease> wrap(StreamLease lease) {
    return new DefaultPooledObject<>(lease);
  }

  @Override
  public boolean validateObject(ConnectionTarget target, PooledObject<StreamLease> pooled) {
    Http2Connection connection = pooled.getObject().connection;
    if (!connection.isUsable()) {
      return false;
    }
    Duration silence = settings.pingAfter();
    if (connection.answersAfter(silence)) {
      return true;
    }
    connection.close();
    return false;
  }

  @Override
  public void destroyObject(ConnectionTarget target, PooledObject<StreamLease> pooled) {
    Http2Connection connection = pooled.getObject().connection;
    lock.lock();
    try {
      PerTarget here = targets.get(target);
      if (here == null) {
        return;
      }
      Iterator<Held> all = here.held.iterator();
      while (all.hasNext()) {
        Held held = all.next();
        if (held.connection == connection && --held.leases == 0) {
          all.remove();
          connection.retire();
        }
      }
      if (here.held.isEmpty() && !here.opening) {
        targets.remove(target);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    connection.closeOnceUnused();
  }
}
