package io.pushplanet.common.lane;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The driver's connection to the broker, and its socket. [#close] waits for the current write,
/// which may never end while the broker does not read; only [#cutOff] ends it. Thread-safe.
///
/// @param name as RabbitMQ's management shows it
/// @param socket null when the driver did not tell it
record BrokerConnection(String name, Connection driver, @Nullable Socket socket) {
  private static final Logger LOG = LoggerFactory.getLogger(BrokerConnection.class);
  private static final int CLOSED_WITHIN_MILLIS = 1_000;

  /// @param connections must not recover by themselves
  static BrokerConnection open(ConnectionFactory connections, String name)
      throws IOException, TimeoutException {
    AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
    ConnectionFactory watched = connections.clone();
    watched.setSocketConfigurator(connections.getSocketConfigurator().andThen(socket::set));
    Connection driver = watched.newConnection(name);
    return new BrokerConnection(name, driver, socket.get());
  }

  /// Closes the connection, and does not wait longer than a second for the broker's answer.
  void close() {
    driver.abort(CLOSED_WITHIN_MILLIS);
  }

  /// Ends the connection and its current write at once, without a word to the broker.
  void cutOff() {
    try {
      if (socket != null) {
        // Otherwise TLS would wait for the write before it says goodbye.
        socket.setSoLinger(true, 0);
        socket.close();
      }
    } catch (IOException e) {
      LOG.debug("event=socket_close_failed connection={}", name, e);
    }
  }
}
