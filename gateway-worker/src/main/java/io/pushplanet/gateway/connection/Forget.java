package io.pushplanet.gateway.connection;

import java.util.Map;
import org.apache.hc.core5.reactor.IOSession;
import org.apache.hc.core5.reactor.IOSessionListener;

/// Takes closed connections off the list, and keeps new requests from them.
record Forget(Map<String, Http2Connection> byId) implements IOSessionListener {
  @Override
  public void connected(IOSession session) {}

  @Override
  public void startTls(IOSession session) {}

  @Override
  public void inputReady(IOSession session) {}

  @Override
  public void outputReady(IOSession session) {}

  @Override
  public void timeout(IOSession session) {}

  @Override
  public void exception(IOSession session, Exception cause) {}

  @Override
  public void disconnected(IOSession session) {
    Http2Connection connection = byId.remove(session.getId());
    if (connection != null) {
      connection.close();
    }
  }
}
