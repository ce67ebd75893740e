package io.pushplanet.gateway.http2;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.io.IOException;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;

/// How the pool opens, checks and closes connections. Thread-safe.
final class PooledConnections
    extends BaseKeyedPooledObjectFactory<ConnectionTarget, Http2Connection> {
  private static final int MAX_TARGETS = 10_000;

  private final Http2Connector connector;
  private final ConnectionSettings settings;

  /// When one of a target's connections last failed to answer a PING.
  private final Cache<ConnectionTarget, Long> askedInVainNanos =
      Caffeine.newBuilder().maximumSize(MAX_TARGETS).build();

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

  /// Checks with a PING a connection that has been silent for long. A new connection counts as
  /// good, even if the peer has ended it already: its borrower learns that, and it is no failed
  /// connect. A caller waits for at most one unanswered PING: the other connections that had been
  /// silent then have likely died with that one.
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

  /// Requests that are still under way on it may end first.
  @Override
  public void destroyObject(ConnectionTarget target, PooledObject<Http2Connection> pooled) {
    pooled.getObject().retire();
  }
}
