package io.pushplanet.gateway.node;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.commons.pool2.BaseKeyedPooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericKeyedObjectPool;
import org.apache.commons.pool2.impl.GenericKeyedObjectPoolConfig;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connection managers as the gateway sees them: frames out, outcomes back, over pooled Paho connections. A connection is
/// borrowed only while a frame is handed over; many frames wait for answers on one connection. Thread-safe.
public final class Nodes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Nodes.class);
  private static final Duration LEASES_KEPT = Duration.ofSeconds(1);
  private static final Duration BORROW = Duration.ofSeconds(5);

  private final SessionDirectory directory;
  private final NodeSettings settings;
  private final Clock clock;
  private final GenericKeyedObjectPool<Address, NodeConnection> pool;
  private final AtomicLong frames = new AtomicLong();
  private final Timer answered;
  private final ReentrantLock reading = new ReentrantLock();
  private volatile Leases leases = new Leases(Map.of(), Instant.EPOCH);

  private record Leases(Map<NodeId, NodeLease> byId, Instant readAt) {}

  /// A node that restarts with another port is another address.
  private record Address(NodeId node, String host, int port) {}

  public Nodes(
      SessionDirectory directory, NodeSettings settings, Clock clock, MeterRegistry meters) {
    this.directory = directory;
    this.settings = settings;
    this.clock = clock;
    GenericKeyedObjectPoolConfig<NodeConnection> config = new GenericKeyedObjectPoolConfig<>();
    config.setMaxTotalPerKey(settings.connections());
    config.setMaxIdlePerKey(settings.connections());
    config.setMaxTotal(-1);
    config.setTestOnBorrow(true);
    config.setMaxWait(BORROW);
    config.setTimeBetweenEvictionRuns(Duration.ofSeconds(30));
    config.setTestWhileIdle(true);
    config.setNumTestsPerEvictionRun(-1);
    config.setMinEvictableIdleDuration(Duration.ofMinutes(10));
    config.setJmxEnabled(false);
    this.pool = new GenericKeyedObjectPool<>(new Connections(), config);
    this.answered = meters.timer("pushplanet.node.frame");
    Gauge.builder("pushplanet.node.connections", pool, all -> all.getNumActive() + all.getNumIdle())
        .register(meters);
  }

  /// Sends one frame and waits for its answers, at most until `answerBy`.
  ///
  /// @return the outcome of each target by its index. What the node did not answer, also because it is gone, is `timeout`;
  ///     a node without a lease is `not_here`.
  public List<NodeOutcomes.Outcome> deliver(
      NodeId node,
      List<NodeFrame.Letter> letters,
      List<NodeFrame.Target> targets,
      Instant answerBy) {
    Optional<NodeLease> lease = lease(node);
    if (lease.isEmpty()) {
      return all(targets, NodeOutcomes.Result.NOT_HERE, "node_gone");
    }
    String number = Long.toString(frames.incrementAndGet());
    OpenFrame frame = new OpenFrame(targets.size());
    byte[] body = WireForm.write(new NodeFrame(number, answerBy, letters, targets));
    Timer.Sample sample = Timer.start();
    NodeConnection connection = null;
    try {
      connection = withConnection(lease.get(), some -> some.send(number, body, frame));
      // The node answers by the deadline; its answer needs a moment to come back.
      Map<Integer, NodeOutcomes.Outcome> answers =
          frame.await(Duration.between(clock.instant(), answerBy).plusMillis(500));
      sample.stop(answered);
      return complete(targets, answers);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return all(targets, NodeOutcomes.Result.TIMEOUT, "interrupted");
    } catch (NodeUnreachable e) {
      LOG.warn(
          "event=node_unreachable node={} targets={} reason=\"{}\"",
          node,
          targets.size(),
          e.getMessage());
      return all(targets, NodeOutcomes.Result.TIMEOUT, "node_unreachable");
    } finally {
      if (connection != null) {
        connection.forget(number);
      }
    }
  }

  /// Asks a node to look into the inboxes of devices that may be connected. Best effort: they are drained at their next
  /// connect anyway.
  public void drain(NodeId node, NodeFrame.Drain drain) {
    lease(node)
        .ifPresent(lease -> {
          try {
            withConnection(lease, connection -> connection.drain(WireForm.write(drain)));
          } catch (NodeUnreachable e) {
            LOG.warn("event=node_drain_failed node={} reason=\"{}\"", node, e.getMessage());
          }
        });
  }

  @Override
  public void close() {
    pool.close();
  }

  private interface Use {
    void on(NodeConnection connection) throws MqttException;
  }

  private static final class NodeUnreachable extends RuntimeException {
    private static final long serialVersionUID = 1;

    NodeUnreachable(Exception cause) {
      super(cause.toString(), cause, false, false);
    }
  }

  private NodeConnection withConnection(NodeLease lease, Use use) {
    Address address = new Address(lease.node(), lease.host(), lease.gatewayPort());
    NodeConnection connection;
    try {
      connection = pool.borrowObject(address);
    } catch (Exception e) {
      throw new NodeUnreachable(e);
    }
    try {
      use.on(connection);
      pool.returnObject(address, connection);
      return connection;
    } catch (MqttException e) {
      invalidate(address, connection);
      throw new NodeUnreachable(e);
    }
  }

  private void invalidate(Address address, NodeConnection connection) {
    try {
      pool.invalidateObject(address, connection);
    } catch (Exception e) {
      LOG.debug("event=node_invalidate_failed reason=\"{}\"", e.toString());
    }
  }

  /// Leases are read again after [#LEASES_KEPT]. One thread reads; the others go on with what was known, except where they look
  /// for a node that was not: they wait for the answer.
  private Optional<NodeLease> lease(NodeId node) {
    Leases known = leases;
    if (isOld(known)) {
      boolean mine = reading.tryLock();
      if (!mine && !known.byId().containsKey(node)) {
        reading.lock();
        mine = true;
      }
      if (mine) {
        try {
          readIfOld();
        } finally {
          reading.unlock();
        }
      }
    }
    return Optional.ofNullable(leases.byId().get(node));
  }

  private boolean isOld(Leases known) {
    return known.readAt().plus(LEASES_KEPT).isBefore(clock.instant());
  }

  private void readIfOld() {
    if (!isOld(leases)) {
      return;
    }
    try {
      leases =
          new Leases(
              directory.nodes().stream()
                  .collect(Collectors.toMap(NodeLease::node, Function.identity())),
              clock.instant());
    } catch (DirectoryUnavailable e) {
      LOG.debug("event=leases_unknown reason=\"{}\"", e.toString());
    }
  }

  private static List<NodeOutcomes.Outcome> complete(
      List<NodeFrame.Target> targets, Map<Integer, NodeOutcomes.Outcome> answers) {
    List<NodeOutcomes.Outcome> missing = all(targets, NodeOutcomes.Result.TIMEOUT, "no_answer");
    return missing.stream()
        .map(outcome -> answers.getOrDefault(outcome.target(), outcome))
        .toList();
  }

  private static List<NodeOutcomes.Outcome> all(
      List<NodeFrame.Target> targets, NodeOutcomes.Result result, String reason) {
    return IntStream.range(0, targets.size())
        .mapToObj(target -> new NodeOutcomes.Outcome(target, result, reason))
        .toList();
  }

  private final class Connections extends BaseKeyedPooledObjectFactory<Address, NodeConnection> {
    @Override
    public NodeConnection create(Address address) throws MqttException {
      NodeLease lease =
          new NodeLease(
              address.node(), address.host(), address.port(), 0, 0, 0, false, clock.instant());
      return NodeConnection.open(lease, "gateway-" + UUID.randomUUID(), settings);
    }

    @Override
    public PooledObject<NodeConnection> wrap(NodeConnection connection) {
      return new DefaultPooledObject<>(connection);
    }

    @Override
    public boolean validateObject(Address address, PooledObject<NodeConnection> pooled) {
      return pooled.getObject().isOpen();
    }

    @Override
    public void destroyObject(Address address, PooledObject<NodeConnection> pooled) {
      pooled.getObject().close();
    }
  }
}
