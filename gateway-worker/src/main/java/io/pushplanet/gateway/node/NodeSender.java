package io.pushplanet.gateway.node;

import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.order.Tickets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends frames to a node on its one connection: with two connections, a frame could overtake one
/// sent just before. Frames leave in the order of their tickets. The first frame that finds no
/// connection opens one, and the frames behind it wait for the result. Thread-safe.
final class NodeSender implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeSender.class);

  /// After a failed connect the next try waits so long. Frames come by the hundred, and a client
  /// that connects has threads of its own.
  private static final Duration AFTER_A_FAILURE = Duration.ofSeconds(1);

  private final NodeAddress address;
  private final NodeSettings settings;
  private final LongSupplier nanoTime;
  private final Duration within;
  private final Tickets tickets = new Tickets();
  private final AtomicReference<@Nullable NodeConnection> live = new AtomicReference<>();
  private final ReentrantLock connecting = new ReentrantLock();
  private volatile boolean closed;

  /// Guarded by [#connecting].
  private @Nullable Long failedNanos;

  /// @param within how long the node may take for each acknowledgement, and a frame to leave
  NodeSender(NodeAddress address, NodeSettings settings, LongSupplier nanoTime, Duration within) {
    this.address = address;
    this.settings = settings;
    this.nanoTime = nanoTime;
    this.within = within;
  }

  interface Publish {
    /// @param atMost how long it may wait for a permit to publish
    NodeConnection.Sent on(NodeConnection connection, Duration atMost) throws MqttException;
  }

  /// A ticket to send with; if it is not used, it must be passed.
  Ticket ticket() {
    return tickets.take();
  }

  /// Sends a frame, and returns when the node has acknowledged it. The frames behind it may leave
  /// as soon as it has left.
  ///
  /// @param atMost how long it may take to leave, where that is less than usual
  /// @return the connection that was used
  /// @throws NodeUnreachable when there is no connection, or it broke, or an earlier frame did not
  ///     leave
  NodeConnection send(Ticket ticket, Duration atMost, Publish publish) {
    NodeConnection connection = null;
    try {
      NodeConnection.Sent sent;
      try {
        long endNanos = System.nanoTime() + Math.min(atMost.toNanos(), within.toNanos());
        if (!ticket.await(until(endNanos))) {
          throw new NodeUnreachable("node_busy");
        }
        connection = open();
        sent = publish.on(connection, until(endNanos));
      } finally {
        ticket.pass();
      }
      sent.awaitAcknowledgement();
      return connection;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NodeUnreachable("interrupted");
    } catch (NodeUnreachable e) {
      throw e;
    } catch (MqttException e) {
      lost(connection, e);
      throw new NodeUnreachable("node_unreachable");
    } catch (RuntimeException | Error e) {
      lost(connection, e);
      throw e;
    }
  }

  private static Duration until(long endNanos) {
    return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
  }

  private NodeConnection open() {
    connecting.lock();
    try {
      NodeConnection known = live.get();
      return known != null && known.isOpen() ? known : connect();
    } finally {
      connecting.unlock();
    }
  }

  private NodeConnection connect() {
    if (failedNanos != null && nanoTime.getAsLong() - failedNanos < AFTER_A_FAILURE.toNanos()) {
      throw new NodeUnreachable("node_unreachable");
    }
    try {
      NodeConnection made =
          NodeConnection.open(
              address, "gateway-" + UUID.randomUUID(), settings, NodeConnection.KEEP_ALIVE, within);
      NodeConnection broken = live.getAndSet(made);
      if (broken != null) {
        broken.close();
      }
      if (closed) {
        close();
      }
      return made;
    } catch (MqttException e) {
      failedNanos = nanoTime.getAsLong();
      warn(e);
      throw new NodeUnreachable("node_unreachable");
    }
  }

  /// Every frame that used the connection notices; one of them logs and closes it.
  private void lost(@Nullable NodeConnection connection, Throwable why) {
    if (connection != null && live.compareAndSet(connection, null)) {
      warn(why);
      connection.close();
    }
  }

  private void warn(Throwable why) {
    LOG.warn("event=node_unreachable node={} reason=\"{}\"", address.node(), why.toString());
  }

  boolean isOpen() {
    NodeConnection connection = live.get();
    return connection != null && connection.isOpen();
  }

  @Override
  public void close() {
    closed = true;
    NodeConnection last = live.getAndSet(null);
    if (last != null) {
      last.close();
    }
  }
}
