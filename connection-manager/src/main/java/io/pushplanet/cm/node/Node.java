package io.pushplanet.cm.node;

import io.lettuce.core.RedisException;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Registrar;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// This process among its like: says that it lives while it does, and leaves in order. Thread-safe.
final class Node {
  private static final Logger LOG = LoggerFactory.getLogger(Node.class);

  private final NodeId id;
  private final String advertisedHost;
  private final Transport transport;
  private final SessionDirectory directory;
  private final SessionTable sessions;
  private final Registrar registrar;
  private final Admission admission;
  private final InstantSource clock;
  private final Duration heartbeatEvery;
  private final CountDownLatch stopped = new CountDownLatch(1);

  Node(
      NodeId id,
      NodeSettings settings,
      Transport transport,
      SessionDirectory directory,
      SessionTable sessions,
      Registrar registrar,
      Admission admission,
      InstantSource clock) {
    this.id = id;
    this.advertisedHost = settings.advertisedHost();
    this.transport = transport;
    this.directory = directory;
    this.sessions = sessions;
    this.registrar = registrar;
    this.admission = admission;
    this.clock = clock;
    this.heartbeatEvery = settings.directory().heartbeatEvery();
  }

  NodeId id() {
    return id;
  }

  /// @param managementPort known only once the web server runs
  void start(IntSupplier managementPort) {
    LOG.info(
        "event=node_started node={} mqtt_port={} tls_port={} gateway_port={}",
        id,
        transport.port("mqtt"),
        transport.port("tls"),
        transport.port("gateway"));
    Thread.ofVirtual()
        .name("cm-heartbeat")
        .start(() -> {
          do {
            heartbeat(managementPort.getAsInt());
          } while (!pause());
        });
  }

  private void heartbeat(int managementPort) {
    try {
      directory.heartbeat(lease(managementPort));
    } catch (DirectoryUnavailable | RedisException away) {
      // The registrar says so once; the next heartbeat comes soon.
      LOG.debug("event=heartbeat_failed");
    }
  }

  NodeLease lease(int managementPort) {
    return new NodeLease(
        id,
        advertisedHost,
        transport.port("gateway"),
        transport.port("mqtt"),
        managementPort,
        sessions.size(),
        admission.isDraining(),
        clock.instant());
  }

  private boolean pause() {
    try {
      return stopped.await(heartbeatEvery.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /// Stops accepting, tells every device, releases its session, and gives up the lease.
  void stop() {
    admission.drain();
    transport.stopListening();
    stopped.countDown();
    int told = sessions.size();
    for (DeviceSession session : sessions.all()) {
      session
          .loop()
          .execute(() -> {
            session.disconnect(
                ReasonCode.SERVER_SHUTTING_DOWN, "this node is leaving: connect again");
            session.retire();
          });
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
    try {
      directory.leave(id);
    } catch (DirectoryUnavailable | RedisException away) {
      LOG.debug("event=leave_failed");
    }
    transport.close();
    LOG.info("event=node_stopped node={} sessions={}", id, told);
  }
}
