package io.pushplanet.cm.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.Directory;
import io.pushplanet.cm.directory.DirectorySettings;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Heap;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.transport.TransportSettings;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.services.LocalServices;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/// The lease that a node writes to Redis while a heartbeat is under way.
class NodeIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink link = RedisLink.open(client);
  private final SessionDirectory directory = new SessionDirectory(link, Clock.systemUTC());
  private final NodeId id = new NodeId("node-" + UUID.randomUUID());
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionTable table = new SessionTable();
  private final AcceptGate gate =
      new AcceptGate(GateSettings.OPEN, System.nanoTime(), new SplittableRandom(1));
  private final ServerReferences serverReferences =
      new ServerReferences("", new SplittableRandom(2));
  private final Admission admission = new Admission(10, serverReferences, gate);
  private final AtomicBoolean holds = new AtomicBoolean(true);
  private final CountDownLatch composing = new CountDownLatch(1);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private Transport transport;
  private Node node;

  @BeforeEach
  void start() {
    transport =
        Transport.start(
            List.of(),
            new TransportSettings(
                1, Sockets.AUTO, 1 << 20, 1 << 20, Duration.ofMinutes(5), Duration.ZERO, 16, 1, 1),
            gate,
            new Heap(),
            meters,
            System::nanoTime);
    new ApplicationContextRunner()
        .withUserConfiguration(NodeSettingsTest.OnlySettings.class)
        .withPropertyValues(
            "cm.gateway-password=secret", "cm.drain.notice=0s", "cm.drain.longest-at-stop=1s")
        .run(context -> node = node(context.getBean(NodeSettings.class)));
  }

  @AfterEach
  void close() {
    transport.close();
    directory.leave(id);
    link.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void a_heartbeat_under_way_does_not_hide_that_the_node_is_draining() throws Exception {
    var early = heartbeatUnderWay();
    admission.drain();

    var announcement = Thread.ofPlatform().start(node::heartbeat);
    awaitLockOrEnd(announcement);
    goesOn.countDown();
    early.join();
    announcement.join();

    assertThat(directory.nodes())
        .filteredOn(lease -> lease.node().equals(id))
        .singleElement()
        .matches(NodeLease::draining);
  }

  @Test
  void a_heartbeat_under_way_does_not_bring_back_a_node_that_has_left() throws Exception {
    var early = heartbeatUnderWay();

    var stop = Thread.ofPlatform().start(node::stop);
    awaitLockOrEnd(stop);
    goesOn.countDown();
    early.join();
    stop.join();

    assertThat(directory.nodes()).noneMatch(lease -> lease.node().equals(id));
  }

  /// It has noted that the node is not draining, and has written nothing yet.
  private Thread heartbeatUnderWay() throws InterruptedException {
    var heartbeat = Thread.ofPlatform().start(node::heartbeat);
    assertThat(composing.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return heartbeat;
  }

  private static void awaitLockOrEnd(Thread thread) {
    Eventually.within(
        PATIENCE,
        () -> assertThat(thread.getState()).isIn(Thread.State.BLOCKED, Thread.State.TERMINATED));
  }

  /// The lease reads the time after it has read everything else that changes.
  private Instant now() {
    if (holds.getAndSet(false)) {
      composing.countDown();
      try {
        assertThat(goesOn.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException stopped) {
        throw new AssertionError(stopped);
      }
    }
    return Clock.systemUTC().instant();
  }

  private Node node(NodeSettings settings) {
    var registrar =
        new Registrar(
            new NoDevices(),
            id,
            table,
            _ -> {
              throw new AssertionError("there is no device");
            },
            meters,
            Clock.systemUTC(),
            new DirectorySettings(
                100,
                Duration.ofSeconds(5),
                Duration.ofSeconds(1),
                Duration.ZERO,
                Duration.ofMinutes(5),
                Duration.ofMinutes(5)),
            Runnable::run,
            Runnable::run,
            (_, _) -> {});
    return new Node(
        id,
        settings,
        transport,
        directory,
        table,
        registrar,
        admission,
        serverReferences,
        this::now,
        System::nanoTime);
  }

  private static final class NoDevices implements Directory {
    @Override
    public List<Answer> execute(List<Command> commands) {
      throw new AssertionError("there is no device");
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      return Map.of();
    }

    @Override
    public Announcement announce(Map<DeviceKey, Announced> sessions) {
      throw new AssertionError("there is no device");
    }

    @Override
    public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
      throw new AssertionError("there is no device");
    }
  }
}
