package io.pushplanet.gateway.connection;

import java.io.IOException;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;

/// How the pool opens connections, asks them and closes them. Thread-safe.
final class PooledConnections
    extends BaseKeyedPooledObjectFactory<ConnectionTarget, Http2Connection> {
  private final Http2Connector connector;
  private final ConnectionSettings settings;

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

  @Override
  public boolean validateObject(ConnectionTarget target, PooledObject<Http2Connection> pooled) {
    return pooled.getObject().answersAfter(settings.pingAfter());
  }

  /// What is still under way on it may end first.
  @Override
  public void destroyObject(ConnectionTarget target, PooledObject<Http2Connection> pooled) {
    pooled.getObject().retire();
  }
}
