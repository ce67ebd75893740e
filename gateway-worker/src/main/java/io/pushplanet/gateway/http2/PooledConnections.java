package io.pushplanet.gateway.http2;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;

/// How the pool opens connections, asks them and closes them. Thread-safe.
final class PooledConnections
    extends BaseKeyedPooledObjectFactory<ConnectionTarget, Http2Connection> {
  private static final int MOST_TARGETS = 10_000;

  private final Http2Connector connector;
  private final ConnectionSettings settings;

  /// When one of a target's connections was last asked in vain.
  private final Cache<ConnectionTarget, Long> askedInVainNanos =
      Caffeine.newBuilder().maximumSize(MOST_TARGETS).build();

  PooledConnections(Http2Connector connector, ConnectionSettings settings) {
    this.connector = connector;
    this.settings = settings;
  }

  @Override
  public Http2Connection create(ConnectionTarget target) throws IOException, InterruptedException {
    return connector.connect(target, settings.connectTimeout());
  }

  @Override
  public PooledObject<Http2Connection> wrap(Http2Connection connection) {
    return new DefaultPooledObject<>(connection);
  }

  /// Asks it if it was silent for long. A new one is good, also where the peer has ended it already: that is known to who borrows
  /// it, and no failed connect. Whoever waits for a connection waits for one PING without an answer at most: what had
  /// been silent then, too, has likely died with that one.
  @Override
  public boolean validateObject(ConnectionTarget target, PooledObject<Http2Connection> pooled) {
    if (pooled.getBorrowedCount() == 1) {
      return true;
    }
    Http2Connection connection = pooled.getObject();
    if (!connection.isUsable() || connection.silence() < settings.pingAfter().toNanos()) {
      return connection.isUsable();
    }
    Long inVainNanos = askedInVainNanos.getIfPresent(target);
    if (inVainNanos != null && connection.lastHeardNanos() - inVainNanos < 0) {
      return false;
    }
    long askedNanos = System.nanoTime();
    boolean answers = connection.answersPing();
    if (!answers) {
      askedInVainNanos.put(target, askedNanos);
    }
    return answers;
  }

  /// What is still under way on it may end first.
  @Override
  public void destroyObject(ConnectionTarget target, PooledObject<Http2Connection> pooled) {
    pooled.getObject().retire();
  }
}
