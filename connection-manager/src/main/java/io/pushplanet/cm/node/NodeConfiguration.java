package io.pushplanet.cm.node;

import com.rabbitmq.client.ConnectionFactory;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.ConnectionPipeline;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.Elsewhere;
import io.pushplanet.cm.delivery.BroadcastDispatch;
import io.pushplanet.cm.delivery.DeliveryMetrics;
import io.pushplanet.cm.delivery.DeliverySettings;
import io.pushplanet.cm.delivery.FrameDispatch;
import io.pushplanet.cm.delivery.GatewayPeer;
import io.pushplanet.cm.directory.RedisDirectory;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Heap;
import io.pushplanet.cm.transport.Listener;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.transport.TransportSettings;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import io.pushplanet.cm.uplink.EventLane;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodePass;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.TakeoverNotices;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(NodeSettings.class)
class NodeConfiguration {
  // Topic, packet id and properties around the largest uplink.
  private static final int PACKET_ROOM = 512;
  // For jitter, on the loops: locks nothing.
  private static final RandomGenerator EACH_THREADS_OWN =
      () -> ThreadLocalRandom.current().nextLong();

  @Bean
  NodeId nodeId(NodeSettings settings, SecureRandom random) {
    if (!settings.nodeId().isBlank()) {
      return new NodeId(settings.nodeId());
    }
    var suffix = new byte[4];
    random.nextBytes(suffix);
    return new NodeId(hostName() + "-" + HexFormat.of().formatHex(suffix));
  }

  private static String hostName() {
    try {
      var name = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9._-]", "-");
      return name.length() > 50 ? name.substring(0, 50) : name;
    } catch (UnknownHostException unnamed) {
      return "node";
    }
  }

  /// Without Redis the node serves all the same, under provisional epochs.
  @Bean(destroyMethod = "close")
  RedisLink redisLink(RedisClient client) {
    return RedisLink.open(client);
  }

  @Bean
  SessionDirectory sessionDirectory(RedisLink redisLink, Clock clock) {
    return new SessionDirectory(redisLink, clock);
  }

  @Bean(destroyMethod = "close")
  TakeoverNotices takeoverNotices(RedisClient client, NodeId nodeId, Registrar registrar) {
    return TakeoverNotices.listen(client, nodeId, registrar::hear, registrar::doubtAll);
  }

  @Bean
  SessionMetrics sessionMetrics(MeterRegistry meters) {
    return new SessionMetrics(meters);
  }

  @Bean
  SessionTable sessionTable(MeterRegistry meters) {
    var table = new SessionTable();
    Gauge.builder("cm.sessions", table, SessionTable::size).register(meters);
    return table;
  }

  @Bean
  SessionLimits sessionLimits(NodeSettings settings) {
    var session = settings.session();
    return new SessionLimits(
        session.window(),
        session.waiting(),
        session.holdUntilSubscribed(),
        settings.keepAlive().deadPathAfter(),
        session.acknowledgeWithin());
  }

  @Bean(destroyMethod = "close")
  PacedWorker registrations(NodeSettings settings) {
    return new PacedWorker("cm-registrations", settings.directory().together());
  }

  @Bean(destroyMethod = "close")
  Registrar registrar(
      SessionDirectory directory,
      RedisLink redisLink,
      NodeId nodeId,
      SessionTable table,
      Inbox inbox,
      MeterRegistry meters,
      Clock clock,
      NodeSettings settings,
      PacedWorker registrations) {
    var of = settings.directory();
    return new Registrar(
        new RedisDirectory(redisLink, directory, nodeId, clock),
        nodeId,
        table,
        inbox::among,
        meters,
        clock,
        new Registrar.Settings(
            of.waiting(),
            of.claimWithin(),
            of.formerWithin(),
            of.verifyEvery(),
            settings.inbox().patrolEvery()),
        task -> Thread.ofVirtual().name("cm-registrar").start(task),
        registrations,
        (delay, task) ->
            CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS)
                .execute(task));
  }

  @Bean(destroyMethod = "close")
  LanePublisher lanePublisher(ConnectionFactory connections, NodeId nodeId, MeterRegistry meters) {
    return new LanePublisher(connections, "cm-" + nodeId, LanePublisher.Settings.DEFAULT, meters);
  }

  @Bean(destroyMethod = "close")
  EventLane eventLane(
      LanePublisher lanePublisher,
      NodeSettings settings,
      SecureRandom random,
      MeterRegistry meters) {
    return new EventLane(lanePublisher, settings.uplink().mostOpen(), random, meters);
  }

  @Bean
  Uplinks uplinks(
      EventLane lane,
      NodeSettings settings,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    int bytes = Math.toIntExact(settings.uplink().bytes().toBytes());
    return new Uplinks(lane, bytes, settings.uplink().inFlight(), clock, random, meters);
  }

  @Bean
  Heap heap() {
    return new Heap();
  }

  @Bean(destroyMethod = "close")
  Inbox inbox(
      DataSource database,
      EventLane events,
      Clock clock,
      NodeSettings settings,
      Heap heap,
      MeterRegistry meters) {
    var of = settings.inbox();
    return new Inbox(
        database,
        events,
        clock,
        new Inbox.Settings(
            of.readers(),
            of.waiting(),
            of.together(),
            of.devicesPerRead(),
            of.rowsPerDevice(),
            of.rowsPerRead()),
        heap::isFull,
        meters);
  }

  @Bean
  Elsewhere elsewhere(NodeSettings settings, SecureRandom random) {
    return new Elsewhere(settings.admission().serverReference(), random);
  }

  @Bean
  AcceptGate acceptGate(NodeSettings settings) {
    var of = settings.admission();
    return new AcceptGate(
        new GateSettings(
            of.connectsPerSecond(),
            of.addressConnectsPerSecond(),
            of.addressBurst(),
            of.addressFailuresPerSecond(),
            of.mostHeld(),
            of.unlimitedSources()),
        System.nanoTime(),
        EACH_THREADS_OWN);
  }

  @Bean
  Admission admission(
      NodeSettings settings, Elsewhere elsewhere, AcceptGate gate, MeterRegistry meters) {
    return new Admission(settings.admission().mostSessions(), elsewhere, gate, meters);
  }

  @Bean
  ConnectionPipeline connectionPipeline(
      MasterKey masterKey,
      Clock clock,
      NodeSettings settings,
      Admission admission,
      Registrar registrar,
      SessionTable table,
      SessionLimits limits,
      SessionMetrics metrics,
      Inbox inbox,
      Uplinks uplinks,
      EventLane eventLane,
      SecureRandom random) {
    int inFlight = settings.uplink().inFlight();
    int packetBytes = Math.toIntExact(settings.uplink().bytes().toBytes()) + PACKET_ROOM;
    var handshake =
        new DeviceHandshake(
            new DeviceCredential(masterKey, clock),
            limits.window(),
            inFlight,
            packetBytes,
            Uplinks.UPLINK);
    return new ConnectionPipeline(
        handshake,
        admission,
        registrar,
        table,
        new DetachedWindows(clock),
        new LateAcknowledgements(
            LateAcknowledgements.MOST, event -> eventLane.tell(event, () -> {})),
        limits,
        metrics,
        inbox,
        uplinks,
        new DeviceRates(
            settings.uplink().perSecond(),
            settings.uplink().burst(),
            System.nanoTime(),
            random.nextLong()),
        new ConnectionPipeline.Limits(
            PacketLimits.UNAUTHENTICATED.withPacketBytes(packetBytes), inFlight),
        clock,
        (delay, task) -> {
          var timer = ForkJoinPool.commonPool().schedule(task, delay.toSeconds(), TimeUnit.SECONDS);
          return () -> timer.cancel(false);
        });
  }

  @Bean(destroyMethod = "shutdown")
  ExecutorService frameReaders() {
    return Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("cm-frame-", 0).factory());
  }

  @Bean(destroyMethod = "close")
  Transport transport(
      NodeSettings settings,
      AcceptGate gate,
      Heap heap,
      ConnectionPipeline pipeline,
      SessionTable table,
      Registrar registrar,
      ExecutorService frameReaders,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    var of = settings.transport();
    int processors = Runtime.getRuntime().availableProcessors();
    int loops = of.loops() == 0 ? processors : of.loops();
    var deliverySettings =
        new DeliverySettings(
            settings.gatewayUser(),
            settings.gatewayPassword(),
            settings.delivery().mostOpenTargets(),
            settings.delivery().framesWaiting(),
            settings.delivery().broadcastBytes().toBytes() / loops,
            settings.delivery().longestWait());
    var deliveryMetrics = new DeliveryMetrics(meters);
    var dispatch =
        new FrameDispatch(
            table, deliverySettings, deliveryMetrics, clock, System::nanoTime, registrar);
    var broadcasts =
        new BroadcastDispatch(
            table, deliverySettings, deliveryMetrics, clock, System::nanoTime, registrar);
    int pending = Math.toIntExact(of.pendingBytes().toBytes());
    var networks =
        settings.keepAlive().learn()
            ? new Networks(settings.keepAlive().networks(), clock, random, meters)
            : null;
    var devices = new DeviceListeners(settings.bind(), pending, networks, pipeline);
    var listeners = new ArrayList<Listener>();
    listeners.add(devices.listener("mqtt", settings.mqttPort(), null, false));
    if (settings.wsPort() != null) {
      listeners.add(devices.listener("ws", settings.wsPort(), null, true));
    }
    var tls = settings.tls();
    if (tls.certificate() != null && tls.privateKey() != null) {
      var identity = TlsIdentity.fromPem(tls.certificate(), tls.privateKey());
      listeners.add(devices.listener("tls", settings.tlsPort(), identity, false));
      if (settings.wssPort() != null) {
        listeners.add(devices.listener("wss", settings.wssPort(), identity, true));
      }
    } else if (settings.wssPort() != null) {
      throw new IllegalArgumentException(
          "cm.wss-port needs cm.tls.certificate and cm.tls.private-key");
    } else if (tls.certificate() != null || tls.privateKey() != null) {
      throw new IllegalArgumentException(
          "set both cm.tls.certificate and cm.tls.private-key, or neither");
    }
    listeners.add(
        new Listener(
            "gateway",
            new InetSocketAddress(settings.bind(), settings.gatewayPort()),
            null,
            false,
            Math.toIntExact(of.gatewayPendingBytes().toBytes()),
            true,
            connection ->
                new MqttLink(
                    connection,
                    link ->
                        new GatewayPeer(
                            link,
                            deliverySettings,
                            deliveryMetrics,
                            dispatch,
                            broadcasts,
                            pipeline::drain,
                            frameReaders))));
    return Transport.start(
        listeners,
        new TransportSettings(
            loops,
            of.sockets().resolved(),
            of.unauthenticatedBytes().toBytes(),
            partialBytes(of.partialBytes().toBytes()),
            of.writeStall(),
            of.backlog(),
            tls.handshakeThreads() == 0 ? Math.max(1, processors / 2) : tls.handshakeThreads(),
            tls.handshakesWaiting()),
        gate,
        heap,
        meters,
        System::nanoTime);
  }

  private static long partialBytes(long set) {
    return set == 0 ? Runtime.getRuntime().maxMemory() / 8 : set;
  }

  /// The ways that a device can come; behind them all is the same.
  private record DeviceListeners(
      String bind, int pendingBytes, @Nullable Networks networks, ConnectionPipeline pipeline) {
    Listener listener(String name, int port, @Nullable TlsIdentity tls, boolean webSocket) {
      return new Listener(
          name,
          new InetSocketAddress(bind, port),
          tls,
          webSocket,
          pendingBytes,
          false,
          connection -> new MqttLink(connection, networks, pipeline::accepted));
    }
  }

  @Bean
  Node node(
      NodeId nodeId,
      NodeSettings settings,
      Transport transport,
      SessionDirectory directory,
      SessionTable table,
      Registrar registrar,
      Admission admission,
      Elsewhere elsewhere,
      Clock clock) {
    return new Node(
        nodeId,
        settings,
        transport,
        directory,
        table,
        registrar,
        admission,
        elsewhere,
        clock,
        System::nanoTime);
  }

  @Bean(destroyMethod = "close")
  HeapAfterCollection heapAfterCollection(SessionTable table, MeterRegistry meters) {
    var heap = new HeapAfterCollection(table::size);
    Gauge.builder("cm.heap.after.collection", heap, HeapAfterCollection::bytes)
        .baseUnit("bytes")
        .register(meters);
    Gauge.builder(
            "cm.session.heap",
            heap,
            it -> it.perSession().stream().asDoubleStream().findAny().orElse(Double.NaN))
        .baseUnit("bytes")
        .register(meters);
    return heap;
  }

  @Bean
  NodeNumbers nodeNumbers(MeterRegistry meters, HeapAfterCollection heapAfterCollection) {
    return new NodeNumbers(meters, heapAfterCollection, System::nanoTime);
  }

  @Bean
  NodeOrders nodeOrders(NodeId nodeId, MasterKey masterKey, Clock clock, NodeSettings settings) {
    return new NodeOrders(
        nodeId, new NodePass(masterKey, clock), settings.gatewayUser(), settings.gatewayPassword());
  }

  @Bean
  NodeLifecycle nodeLifecycle(Node node, Registrar registrar, Environment environment) {
    return new NodeLifecycle(
        node, registrar, () -> environment.getProperty("local.server.port", Integer.class, 0));
  }

  @Bean
  NodeHealth nodeHealthIndicator(
      Transport transport, Registrar registrar, EventLane lane, Inbox inbox, Admission admission) {
    return new NodeHealth(transport, registrar, lane, inbox, admission);
  }
}
