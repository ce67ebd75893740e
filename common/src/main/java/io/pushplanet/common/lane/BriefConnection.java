package io.pushplanet.common.lane;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A connection to the broker for rare tasks. It closes rather than waits: RabbitMQ stops reading
/// from publishers while memory or disk runs out
/// (https://www.rabbitmq.com/docs/connection-blocked), and the driver's writes and close would then
/// hang for ever. Such a connection is cut off, so that its caller fails at once. So is a
/// connection that is open for too long. Thread-safe.
public final class BriefConnection implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BriefConnection.class);

  private final BrokerConnection connection;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean takesNothing;

  private BriefConnection(BrokerConnection connection) {
    this.connection = connection;
  }

  /// @param connections must not recover by themselves
  /// @param name of the connection as RabbitMQ's management shows it
  /// @param longest the connection is cut off after this time
  public static BriefConnection open(ConnectionFactory connections, String name, Duration longest)
      throws IOException, TimeoutException {
    BrokerConnection connection = BrokerConnection.open(connections, name);
    BriefConnection made = new BriefConnection(connection);
    connection.driver().addBlockedListener(made::blocked, () -> {});
    Thread.ofVirtual().name(name + "-deadline").start(() -> made.end(longest));
    return made;
  }

  private void blocked(String reason) {
    LOG.warn("event=broker_takes_nothing connection={} reason=\"{}\"", connection.name(), reason);
    takesNothing = true;
    connection.cutOff();
  }

  private void end(Duration longest) {
    try {
      if (!closed.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn(
            "event=broker_too_slow connection={} seconds={}",
            connection.name(),
            longest.toSeconds());
        connection.cutOff();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public Channel createChannel() throws IOException {
    Channel channel = connection.driver().createChannel();
    if (channel == null) {
      throw new IOException("no channel left");
    }
    return channel;
  }

  public boolean isOpen() {
    return connection.driver().isOpen();
  }

  /// Whether it was cut off because the broker accepts nothing.
  public boolean takesNothing() {
    return takesNothing;
  }

  @Override
  public void close() {
    try {
      connection.close();
    } finally {
      // The deadline covers the close as well, because the close also writes to the broker.
      closed.countDown();
    }
  }
}
