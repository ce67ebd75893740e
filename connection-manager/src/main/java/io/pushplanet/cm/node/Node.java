package io.pushplanet.cm.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.LeaseWatch;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// This process as a member of the cluster: renews its lease while it lives, and leaves in order.
/// Thread-safe.
final class Node {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  private final NodeId id;
  private final String advertisedHost;
  private final String deviceHost;
  private final Transport transport;
  private final SessionDirectory directory;
  private final SessionTable sessions;
  private final Registrar registrar;
  private final Admission admission;
  private final ServerReferences serverReferences;
  private final InstantSource clock;
  private final Duration heartbeatEvery;
  private final Duration drainAtStop;
  private final Drain drain;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile IntSupplier managementPort = () -> 0;
  private final LeaseWatch leaseWatch = new LeaseWatch();

  @GuardedBy("this")
  private boolean left;

  Node(
      NodeId id,
      NodeSettings settings,
      Transport transport,
      SessionDirectory directory,
      SessionTable sessions,
      Registrar registrar,
      Admission admission,
      ServerReferences serverReferences,
      InstantSource clock,
      LongSupplier nanoTime) {
    this.id = id;
    this.advertisedHost = settings.advertisedHost();
    this.deviceHost = settings.deviceHost();
    this.transport = transport;
    this.directory = directory;
    this.sessions = sessions;
    this.registrar = registrar;
    this.admission = admission;
    this.serverReferences = serverReferences;
    this.clock = clock;
    this.heartbeatEvery = settings.directory().heartbeatEvery();
    this.drainAtStop = settings.drain().longestAtStop();
    this.drain =
        new Drain(
            sessions,
            admission,
            serverReferences,
            settings.drain(),
            clock,
            nanoTime,
            this::heartbeat,
            Node::runAfter);
  }

  private static void runAfter(Duration delay, Runnable task) {
    CompletableFuture.delayedExecutor(
            delay.toMillis(), TimeUnit.MILLISECONDS, Thread.ofVirtual().name("cm-drain")::start)
        .execute(task);
  }

  NodeId id() {
    return id;
  }

  Drain drain() {
    return drain;
  }

  /// @param port of the web server, known only once it runs
  void start(IntSupplier port) {
    managementPort = port;
    LOG.info(
        "event=node_started node={} mqtt_port={} tls_port={} ws_port={} wss_port={} gateway_port={}",
        id,
        transport.port("mqtt"),
        transport.port("tls"),
        transport.port("ws"),
        transport.port("wss"),
        transport.port("gateway"));
    Thread.ofVirtual()
        .name("cm-heartbeat")
        .start(() -> {
          do {
            heartbeat();
          } while (!pause());
        });
  }

  /// One at a time: otherwise the lease of an earlier heartbeat could be written over one that
  /// announces a drain. None once the node has left. Blocks.
  synchronized void heartbeat() {
    if (left) {
      return;
    }
    try {
      NodeLease own = lease();
      boolean known = directory.heartbeat(own);
      if (leaseWatch.mayHaveMissed(own.at(), clock.instant(), known)) {
        // Gateways believed that this node was gone, or did not know it yet, and parked the
        // messages for its devices.
        registrar.lapsed();
      }
      serverReferences.update(
          directory.nodes().stream()
              .filter(lease -> !lease.node().equals(id) && !lease.draining())
              .toList());
    } catch (RedisUnavailable away) {
      // The next heartbeat comes soon.
      registrar.away(away);
    } catch (RuntimeException | Error bug) {
      LOG.error("event=heartbeat_error", bug);
    }
  }

  private NodeLease lease() {
    return new NodeLease(
        id,
        advertisedHost,
        transport.port("gateway"),
        transport.port("mqtt"),
        managementPort.getAsInt(),
        sessions.size(),
        admission.isDraining(),
        clock.instant(),
        deviceAddress("mqtt"),
        deviceAddress("tls"));
  }

  /// None while this node is full: others do not send devices to a node without an address.
  private @Nullable String deviceAddress(String listener) {
    int port = transport.port(listener);
    return deviceHost.isBlank() || port == 0 || !admission.hasRoom(sessions.size())
        ? null
        : deviceHost + ":" + port;
  }

  private boolean pause() {
    try {
      return stopped.await(heartbeatEvery.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /// Stops accepting, sends every device elsewhere, releases its session, and gives up the lease.
  void stop() {
    int told = sessions.size();
    transport.stopListening();
    try {
      drain.finishWithin(drainAtStop);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    stopped.countDown();
    for (DeviceSession session : sessions.all()) {
      session
          .loop()
          .execute(() ->
              session.disconnect(
                  ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving: connect again"));
    }
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
      while (sessions.size() > 0 && System.nanoTime() < deadline) {
        TimeUnit.MILLISECONDS.sleep(20);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    registrar.close();
    leave();
    transport.close();
    LOG.info("event=node_stopped node={} sessions={}", id, told);
  }

  private synchronized void leave() {
    left = true;
    try {
      directory.leave(id);
    } catch (RedisUnavailable away) {
      LOG.debug("event=leave_failed", away);
    }
  }
}
