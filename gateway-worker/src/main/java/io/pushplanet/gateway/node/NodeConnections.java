package io.pushplanet.gateway.node;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// This worker's connections to a node, shared by all frames. Another is made when a frame finds no room on those that are there, by
/// one thread; others wait for what becomes of it, and none of them for longer. Thread-safe.
final class NodeConnections implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(NodeConnections.class);

  /// After a failed connect the next try waits so long. Frames come by the hundred, and a client that connects has threads of its
  /// own.
  private static final Duration AFTER_A_FAILURE = Duration.ofSeconds(1);

  private final NodeAddress address;
  private final NodeSettings settings;
  private final LongSupplier nanoTime;
  private final Duration within;
  private final AtomicReferenceArray<@Nullable NodeConnection> places;
  private final AtomicInteger turns = new AtomicInteger();
  private final ReentrantLock connecting = new ReentrantLock();
  private volatile boolean closed;

  /// Guarded by [#connecting].
  private @Nullable Long failedNanos;

  /// @param within how long the node may take for each acknowledgement
  NodeConnections(
      NodeAddress address, NodeSettings settings, LongSupplier nanoTime, Duration within) {
    this.address = address;
    this.settings = settings;
    this.nanoTime = nanoTime;
    this.within = within;
    this.places = new AtomicReferenceArray<>(settings.connections());
  }

  interface Use {
    void on(NodeConnection connection) throws MqttException;
  }

  /// @return the connection that was used
  /// @throws NodeUnreachable when there is none, or it broke
  NodeConnection with(Use use) {
    NodeConnection connection = next();
    try {
      use.on(connection);
      return connection;
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

  private NodeConnection next() {
    return withRoom().orElseGet(this::more);
  }

  /// The first that has room: little of what follows closely is then overtaken.
  private Optional<NodeConnection> withRoom() {
    return open().filter(NodeConnection::hasRoom).findFirst();
  }

  /// One more where there may be one, else one whose turn it is to be waited for.
  private NodeConnection more() {
    connecting.lock();
    try {
      return withRoom().or(this::connect).orElseGet(this::inTurn);
    } finally {
      connecting.unlock();
    }
  }

  private NodeConnection inTurn() {
    List<NodeConnection> open = open().toList();
    if (open.isEmpty()) {
      throw new NodeUnreachable("node_unreachable");
    }
    return open.get(Math.floorMod(turns.getAndIncrement(), open.size()));
  }

  private Optional<NodeConnection> connect() {
    if (hasJustFailed()) {
      return Optional.empty();
    }
    return IntStream.range(0, places.length())
        .filter(place -> !isOpen(places.get(place)))
        .boxed()
        .findFirst()
        .flatMap(this::connect);
  }

  private boolean hasJustFailed() {
    return failedNanos != null && nanoTime.getAsLong() - failedNanos < AFTER_A_FAILURE.toNanos();
  }

  private Optional<NodeConnection> connect(int place) {
    try {
      NodeConnection made =
          NodeConnection.open(
              address, "gateway-" + UUID.randomUUID(), settings, NodeConnection.KEEP_ALIVE, within);
      NodeConnection broken = places.getAndSet(place, made);
      if (broken != null) {
        broken.close();
      }
      if (closed) {
        close();
      }
      return Optional.of(made);
    } catch (MqttException e) {
      failedNanos = nanoTime.getAsLong();
      warn(e);
      return Optional.empty();
    }
  }

  /// All who used it notice; one of them tells and tidies up.
  private void lost(NodeConnection connection, Throwable why) {
    for (int place = 0; place < places.length(); place++) {
      if (places.compareAndSet(place, connection, null)) {
        warn(why);
        connection.close();
      }
    }
  }

  private void warn(Throwable why) {
    LOG.warn("event=node_unreachable node={} reason=\"{}\"", address.node(), why.toString());
  }

  /// Those on which frames can go out.
  Stream<NodeConnection> open() {
    return IntStream.range(0, places.length())
        .mapToObj(places::get)
        .filter(NodeConnections::isOpen);
  }

  private static boolean isOpen(@Nullable NodeConnection connection) {
    return connection != null && connection.isOpen();
  }

  @Override
  public void close() {
    closed = true;
    for (int place = 0; place < places.length(); place++) {
      NodeConnection last = places.getAndSet(place, null);
      if (last != null) {
        last.close();
      }
    }
  }
}
