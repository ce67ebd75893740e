package io.pushplanet.cm.delivery;

import static io.pushplanet.cm.session.SessionBuilder.aSession;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionBuilder;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.FakeSockets;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.WireForm;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A gateway on a real loop whose time stands still.
class GatewayPeersTest {
  private static final AppId APP = new AppId("shop");
  private static final PacketEncoder ENCODER = new PacketEncoder();

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final SessionTable table = new SessionTable();
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

  @Test
  void delivered_targets_that_still_gather_when_the_node_stops_are_reported() throws Exception {
    try (var sockets = sockets()) {
      var first = device(sockets, "d1");
      var second = device(sockets, "d2");
      onLoop(
          sockets, () -> connectAndBroadcast(sockets, List.of(first.session(), second.session())));

      onLoop(sockets, first::acknowledge);
      assertThat(reported(sockets)).as("the time to gather is not over").isEmpty();
      sockets.loop().execute(second::acknowledge);
      sockets.stop();

      assertThat(reported()).containsExactly(new NodeOutcomes("f1", List.of(), List.of(0, 1)));
    }
  }

  private FakeSockets sockets() throws Exception {
    var settings =
        new DeliverySettings("gateway", new Secret("x"), 100, 8, 100_000, Duration.ofSeconds(30));
    var metrics = new DeliveryMetrics(meters);
    var shared =
        new FrameTargets.Shared(
            table,
            new TargetPermits(100, meters),
            settings,
            metrics,
            clock,
            () -> 0,
            new NoOwnershipDoubts());
    var gateways =
        new GatewayPeers(
            settings,
            metrics,
            new FrameDispatch(shared),
            new BroadcastDispatch(shared),
            Runnable::run);
    return new FakeSockets(
        new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
        meters,
        () -> 0,
        connection -> new MqttLink(connection, link -> gateways.accepted(link, _ -> {})));
  }

  private record Device(DeviceSession session, QuietClient client) {
    void acknowledge() {
      session.acknowledged(client.lastPacketId(), ReasonCode.SUCCESS);
    }
  }

  private Device device(FakeSockets sockets, String name) {
    var client = new QuietClient(sockets.loop());
    var session =
        aSession(new DeviceKey(APP, new DeviceId(name))).at(client, SessionBuilder.shared(clock));
    session.subscribe(Subscription.of(QoS.AT_LEAST_ONCE, 0));
    table.put(session);
    return new Device(session, client);
  }

  private void connectAndBroadcast(FakeSockets sockets, List<DeviceSession> to) {
    sockets.onSent(sent::writeBytes);
    var gateway = sockets.accept();
    var outcomes = new SubscriptionRequest(NodeFrame.OUTCOMES_TOPIC + "gw-1", QoS.AT_MOST_ONCE);
    var broadcast =
        new NodeBroadcast(
            "f1",
            clock.instant().plusSeconds(10),
            new NodeFrame.Message(
                PushBuilder.aPush(clock).build().id(), clock.instant().plusSeconds(3_600), "{}"),
            APP,
            to.stream().map(session -> session.key().device()).toList(),
            to.stream().map(DeviceSession::epoch).toList());
    for (var packet :
        List.of(
            new MqttPacket.Connect(
                MqttVersion.V5,
                true,
                60,
                "gw-1",
                "gateway",
                Binary.of("x"),
                null,
                MqttProperties.NONE),
            new MqttPacket.Subscribe(1, List.of(outcomes), MqttProperties.NONE),
            new MqttPacket.Publish(
                NodeBroadcast.TOPIC,
                new Binary(WireForm.write(broadcast)),
                QoS.AT_LEAST_ONCE,
                false,
                false,
                2,
                MqttProperties.NONE))) {
      sockets.receive(gateway, ENCODER.encode(packet, MqttVersion.V5));
    }
  }

  private List<NodeOutcomes> reported(FakeSockets sockets) throws Exception {
    var reported = new ArrayList<NodeOutcomes>();
    onLoop(sockets, () -> reported.addAll(reported()));
    return reported;
  }

  private List<NodeOutcomes> reported() {
    var reported = new ArrayList<NodeOutcomes>();
    var bytes = ByteBuffer.wrap(sent.toByteArray());
    while (bytes.hasRemaining()) {
      var outcome = new PacketDecoder().decode(bytes, MqttVersion.V5, PacketLimits.UNAUTHENTICATED);
      var packet = ((DecodeOutcome.Decoded) outcome).packet();
      if (packet instanceof MqttPacket.Publish publish) {
        reported.add(WireForm.read(publish.payload().bytes(), NodeOutcomes.class));
      }
    }
    return reported;
  }

  /// Runs the step, and what it leaves for the next turns.
  private static void onLoop(FakeSockets sockets, Runnable step) throws InterruptedException {
    sockets.loop().execute(step);
    for (int turn = 0; turn < 5; turn++) {
      var done = new CountDownLatch(1);
      sockets.loop().execute(done::countDown);
      assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }
}
