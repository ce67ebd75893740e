package io.pushplanet.common.lane;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A connection to the broker for rare tasks. It closes rather than waits: RabbitMQ stops reading
/// from publishers while memory or disk runs out
/// (https://www.rabbitmq.com/docs/connection-blocked), and the driver's writes and close would then
/// hang for ever. Such a connection is cut off, so that its caller fails at once. So is a
/// connection that is open for too long. Thread-safe.
public final class BriefConnection implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BriefConnection.class);
  private static final int CLOSED_WITHIN_MILLIS = 1_000;

  private final String name;
  private final Connection connection;
  private final @Nullable Socket socket;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean takesNothing;

  private BriefConnection(String name, Connection connection, @Nullable Socket socket) {
    this.name = name;
    this.connection = connection;
    this.socket = socket;
  }

  /// @param connections must not recover by themselves
  /// @param name of the connection as RabbitMQ's management shows it
  /// @param longest the connection is cut off after this time
  public static BriefConnection open(ConnectionFactory connections, String name, Duration longest)
      throws IOException, TimeoutException {
    AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
    ConnectionFactory watched = connections.clone();
    watched.setSocketConfigurator(connections.getSocketConfigurator().andThen(socket::set));
    Connection connection = watched.newConnection(name);
    BriefConnection made = new BriefConnection(name, connection, socket.get());
    connection.addBlockedListener(made::blocked, () -> {});
    Thread.ofVirtual().name(name + "-deadline").start(() -> made.end(longest));
    return made;
  }

  private void blocked(String reason) {
    LOG.warn("event=broker_takes_nothing connection={} reason=\"{}\"", name, reason);
    takesNothing = true;
    breakOff();
  }

  private void end(Duration longest) {
    try {
      if (!closed.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn("event=broker_too_slow connection={} seconds={}", name, longest.toSeconds());
        breakOff();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void breakOff() {
    try {
      if (socket != null) {
        socket.close();
      }
    } catch (IOException e) {
      LOG.debug("event=socket_close_failed connection={}", name, e);
    }
  }

  public Channel createChannel() throws IOException {
    Channel channel = connection.createChannel();
    if (channel == null) {
      throw new IOException("no channel left");
    }
    return channel;
  }

  public boolean isOpen() {
    return connection.isOpen();
  }

  /// Whether it was cut off because the broker accepts nothing.
  public boolean takesNothing() {
    return takesNothing;
  }

  @Override
  public void close() {
    try {
      connection.abort(CLOSED_WITHIN_MILLIS);
    } finally {
      // The deadline covers the abort as well, because the abort also writes to the broker.
      closed.countDown();
    }
  }
}
