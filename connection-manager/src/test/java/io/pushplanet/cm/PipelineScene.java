package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.DirectorySettings;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.handshake.DeviceHandshake;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.DeviceRates;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.uplink.DelayedWills;
import io.pushplanet.cm.uplink.UplinkMetrics;
import io.pushplanet.cm.uplink.Uplinks;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Devices' connections with a loop, a queue to Redis and a timer that are run by hand.
abstract class PipelineScene {
  static final AppId APP = new AppId("shop");
  static final int MAX_EVENTS = 100;
  static final int UPLINKS_IN_FLIGHT = 4;

  final MutableClock clock = MutableClock.started();
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  final DeviceCredential credential =
      new DeviceCredential(MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), clock);
  final HandLoop loop = new HandLoop();
  final Queue<Runnable> redis = new ArrayDeque<>();
  final List<Runnable> due = new ArrayList<>();
  final List<DeliveryEvent> told = new ArrayList<>();
  final List<Runnable> confirms = new ArrayList<>();
  final SessionTable table = new SessionTable();
  final DeviceSession.Shared sessionShared =
      SessionBuilder.shared(new SessionMetrics(meters), clock);
  final Epochs directory = new Epochs();
  final Registrar registrar =
      new Registrar(
          directory,
          new NodeId("a"),
          table,
          _ -> Optional.of(List.of()),
          meters,
          clock,
          new DirectorySettings(
              100,
              Duration.ofSeconds(5),
              Duration.ofSeconds(1),
              Duration.ZERO,
              Duration.ofMinutes(5),
              Duration.ofMinutes(30)),
          Runnable::run,
          redis::add,
          (_, _) -> {});

  ConnectionPipeline pipeline(int maxSessions) {
    return pipeline(maxSessions, 0, 1);
  }

  /// @param uplinksPerSecond of one device; 0 for no limit
  ConnectionPipeline pipeline(int maxSessions, int uplinksPerSecond, int uplinkBurst) {
    var gate = new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1));
    var admissionMetrics = new AdmissionMetrics(meters);
    var uplinkMetrics = new UplinkMetrics(meters);
    var uplinks =
        new Uplinks(
            this::tell, 4_096, UPLINKS_IN_FLIGHT, clock, new SplittableRandom(3), uplinkMetrics);
    return new ConnectionPipeline(
        new Reception(
            new DeviceHandshake(credential, 16, UPLINKS_IN_FLIGHT, 4_608, Uplinks.UPLINK, 4_096),
            new Admission(maxSessions, new ServerReferences("", new SplittableRandom(2)), gate),
            admissionMetrics,
            table,
            registrar),
        registrar,
        table,
        new DetachedWindows(clock),
        sessionShared,
        new NothingParked(),
        new InboundFlow.Shared(
            uplinks,
            new DeviceRates(uplinksPerSecond, uplinkBurst, 0, 4),
            uplinkMetrics,
            admissionMetrics,
            UPLINKS_IN_FLIGHT),
        new DelayedWills(
            (_, task) -> {
              due.add(task);
              return () -> due.remove(task);
            },
            registrar::unlessElsewhere,
            uplinks::will),
        PacketLimits.UNAUTHENTICATED);
  }

  boolean tell(DeliveryEvent event, Runnable confirmed) {
    if (told.size() == MAX_EVENTS) {
      return false;
    }
    told.add(event);
    confirms.add(confirmed);
    return true;
  }

  Client connected(ConnectionPipeline pipeline, MqttVersion version, String device) {
    return connected(pipeline, version, device, null);
  }

  Client connected(
      ConnectionPipeline pipeline, MqttVersion version, String device, @Nullable Will will) {
    var client = connecting(pipeline, version, device, will);
    if (loop.timers() > 0) {
      later(ConnectionPipeline.EVICTION_AFTER);
    }
    letGo();
    assertThat(client.packets).hasAtLeastOneElementOfType(MqttPacket.ConnAck.class);
    return client;
  }

  /// A client whose claim waits in the queue.
  Client connecting(
      ConnectionPipeline pipeline, MqttVersion version, String device, @Nullable Will will) {
    return connecting(pipeline, version, true, device, will);
  }

  /// The same for a client that resumes its session.
  Client resuming(ConnectionPipeline pipeline, String device, Will will) {
    return connecting(pipeline, MqttVersion.V5, false, device, will);
  }

  Client connecting(
      ConnectionPipeline pipeline,
      MqttVersion version,
      boolean clean,
      String device,
      @Nullable Will will) {
    var lasting = MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600);
    return connecting(pipeline, version, clean, device, will, lasting);
  }

  Client connecting(
      ConnectionPipeline pipeline, MqttVersion version, String device, int largestPacket) {
    var small = MqttProperties.with(PropertyId.MAXIMUM_PACKET_SIZE, largestPacket);
    return connecting(pipeline, version, true, device, null, small);
  }

  Client connecting(
      ConnectionPipeline pipeline,
      MqttVersion version,
      boolean clean,
      String device,
      @Nullable Will will,
      MqttProperties properties) {
    var client = new Client(loop);
    connect(client, pipeline, version, clean, device, will, properties);
    return client;
  }

  void connecting(Client client, ConnectionPipeline pipeline, String device) {
    connect(client, pipeline, MqttVersion.V5, true, device, null, MqttProperties.NONE);
  }

  private void connect(
      Client client,
      ConnectionPipeline pipeline,
      MqttVersion version,
      boolean clean,
      String device,
      @Nullable Will will,
      MqttProperties properties) {
    client.comesIn(pipeline, version);
    client.receive(
        new MqttPacket.Connect(
            version,
            clean,
            60,
            device,
            APP.value(),
            Binary.of(credential.mint(APP, new DeviceId(device), Duration.ofDays(1))),
            will,
            properties));
    loop.turn();
  }

  final void later(Duration wait) {
    loop.nowNanos += wait.toNanos();
    loop.turn();
  }

  void letGo() {
    for (var next = redis.poll(); next != null; next = redis.poll()) {
      next.run();
      loop.turn();
    }
  }

  static Will will(int delaySeconds) {
    return new Will(
        Uplinks.UPLINK,
        Binary.of("gone"),
        QoS.AT_LEAST_ONCE,
        false,
        MqttProperties.with(PropertyId.WILL_DELAY_INTERVAL, delaySeconds));
  }

  static MqttPacket goodbye(ReasonCode reason) {
    return new MqttPacket.Disconnect(reason, MqttProperties.NONE);
  }

  static MqttPacket uplink(int packetId) {
    return new MqttPacket.Publish(
        Uplinks.UPLINK,
        Binary.of("up"),
        packetId == 0 ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE,
        false,
        false,
        packetId,
        MqttProperties.NONE);
  }

  /// A device's socket: packets that arrive while reading is paused stay in it unread.
  static final class Client extends QuietClient {
    final List<MqttPacket> packets = new ArrayList<>();
    MqttVersion version = MqttVersion.V5;
    @Nullable MqttPeer peer;
    @Nullable ReasonCode refusal;
    MqttProperties refusalTold = MqttProperties.NONE;
    boolean open = true;
    boolean peerLeft;
    boolean paused;

    Client(Loop loop) {
      super(loop);
    }

    void comesIn(ConnectionPipeline pipeline, MqttVersion spoken) {
      version = spoken;
      peer = pipeline.accepted(this);
    }

    void receive(MqttPacket packet) {
      if (open && !paused && peer != null) {
        peer.packet(packet);
      }
    }

    void sweep(long nowNanos) {
      if (peer != null) {
        peer.swept(nowNanos);
      }
    }

    void end() {
      if (open) {
        open = false;
        if (peer != null) {
          peer.closed();
        }
      }
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public void closeIfPeerLeft() {
      if (peerLeft) {
        close();
      }
    }

    @Override
    public boolean isV5() {
      return version == MqttVersion.V5;
    }

    @Override
    public void pauseReading() {
      paused = true;
    }

    @Override
    public void resumeReading() {
      paused = false;
    }

    @Override
    public void send(MqttPacket packet) {
      packets.add(packet);
    }

    @Override
    public byte[] encode(MqttPacket packet) {
      return new PacketEncoder().encode(packet, version);
    }

    @Override
    public void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties) {
      refusal = reason;
      refusalTold = properties;
      end();
    }

    @Override
    public void disconnect(ReasonCode reason, String why) {
      end();
    }

    @Override
    public void disconnect(ReasonCode reason, MqttProperties properties) {
      end();
    }

    @Override
    public void close() {
      end();
    }
  }
}
