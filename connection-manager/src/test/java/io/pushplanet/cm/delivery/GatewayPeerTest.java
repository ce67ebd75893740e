package io.pushplanet.cm.delivery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.AtOnceLoop;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GatewayPeerTest {
  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final DeliverySettings settings =
      new DeliverySettings("gateway", new Secret("x"), 100, 8, 3_000, Duration.ofSeconds(30));
  private final DeliveryMetrics metrics = new DeliveryMetrics(meters);
  private final SessionTable table = new SessionTable();
  private final List<MqttPacket> packets = new ArrayList<>();
  private final QuietClient gateway =
      new QuietClient() {
        @Override
        public void send(MqttPacket packet) {
          packets.add(packet);
        }
      };

  @Test
  void a_frame_that_something_breaks_on_is_answered_and_the_next_one_is_read() {
    var peer = peer(gateway);
    peer.packet(connect("gw-1", "x"));

    peer.packet(drain(1));
    peer.packet(drain(2));

    assertThat(packets)
        .filteredOn(MqttPacket.PubAck.class::isInstance)
        .containsExactly(
            new MqttPacket.PubAck(1, ReasonCode.UNSPECIFIED_ERROR),
            new MqttPacket.PubAck(2, ReasonCode.UNSPECIFIED_ERROR));
  }

  @Test
  void a_frame_without_a_field_is_the_gateways_fault() {
    var peer = peer(gateway);
    peer.packet(connect("gw-1", "x"));

    try (var log = new LogLines(GatewayPeer.class)) {
      peer.packet(publish(NodeFrame.DELIVER_TOPIC, 1, "{\"targets\":[]}".getBytes(UTF_8)));

      assertThat(log.said())
          .singleElement(STRING)
          .startsWith("event=frame_malformed bytes=14 reason=")
          .contains("NodeFrame", "frame");
    }
    assertThat(packets).endsWith(new MqttPacket.PubAck(1, ReasonCode.PAYLOAD_FORMAT_INVALID));
  }

  @Test
  void a_null_pointer_of_this_node_is_not_the_gateways_fault() {
    var peer =
        peer(
            gateway,
            settings,
            _ -> {
              throw new NullPointerException("for the test");
            },
            Runnable::run);
    peer.packet(connect("gw-1", "x"));

    peer.packet(drain(1));

    assertThat(packets).endsWith(new MqttPacket.PubAck(1, ReasonCode.UNSPECIFIED_ERROR));
  }

  @Test
  void a_small_frame_needs_no_other_thread_and_a_large_one_does_not_hold_the_loop() {
    List<Runnable> elsewhere = new ArrayList<>();
    var peer = peer(gateway, elsewhere::add);
    peer.packet(connect("gw-1", "x"));

    peer.packet(deliver(1, 1));
    assertThat(acknowledged()).containsExactly(1);

    peer.packet(deliver(2, 100));
    assertThat(acknowledged()).containsExactly(1);
    elsewhere.removeFirst().run();
    assertThat(acknowledged()).containsExactly(1, 2);
    assertThat(elsewhere).isEmpty();
  }

  @Test
  void a_small_frame_does_not_overtake_a_large_one() {
    List<Runnable> elsewhere = new ArrayList<>();
    var peer = peer(gateway, elsewhere::add);
    peer.packet(connect("gw-1", "x"));

    peer.packet(deliver(1, 100));
    peer.packet(deliver(2, 1));
    peer.packet(deliver(3, 100));
    peer.packet(deliver(4, 1));
    assertThat(acknowledged()).isEmpty();

    elsewhere.removeFirst().run();
    assertThat(acknowledged()).containsExactly(1, 2);
    elsewhere.removeFirst().run();
    assertThat(acknowledged()).containsExactly(1, 2, 3, 4);
  }

  /// Otherwise the link would go on reading from within the frame that is being read.
  @Test
  void reading_goes_on_for_a_frame_that_is_read_at_once() {
    List<String> told = new ArrayList<>();
    var link =
        new QuietClient() {
          @Override
          public void pauseReading() {
            told.add("pause");
          }
        };
    var narrow =
        new DeliverySettings("gateway", new Secret("x"), 100, 1, 3_000, Duration.ofSeconds(30));
    List<Runnable> elsewhere = new ArrayList<>();
    var peer = peer(link, narrow, elsewhere::add);
    peer.packet(connect("gw-1", "x"));

    peer.packet(deliver(1, 1));
    peer.packet(deliver(2, 100));
    assertThat(told).isEmpty();
    peer.packet(deliver(3, 1));
    assertThat(told).containsExactly("pause");
  }

  @Test
  void a_flood_of_wrong_passwords_is_a_line_in_ten_seconds_and_not_a_line_each() {
    var loop = new AtOnceLoop();
    try (var log = new LogLines(RefusedGateways.class)) {
      for (int second = 0; second < 25; second++) {
        for (int stranger = 0; stranger < 100; stranger++) {
          peer(new QuietClient(loop)).packet(connect("gw\nevent=forged", "wrong"));
        }
        loop.nowNanos += Duration.ofSeconds(1).toNanos();
      }

      assertThat(log.said())
          .hasSize(3)
          .noneMatch(line -> line.contains("forged"))
          .anyMatch(line -> line.contains("times=1 "))
          .anyMatch(line -> line.contains("times=1000 "));
    }
    assertThat(meters.get("cm.delivery.gateways.refused").counter().count()).isEqualTo(2_500);
  }

  @Test
  void a_gateway_that_leaves_is_logged_by_its_name() {
    var peer = peer(gateway);
    peer.packet(connect("gw-1", "x"));

    try (var log = new LogLines(GatewayPeer.class)) {
      peer.closed();

      assertThat(log.said()).containsExactly("event=gateway_disconnected gateway=gw-1");
    }
  }

  private List<Integer> acknowledged() {
    return packets.stream()
        .filter(MqttPacket.PubAck.class::isInstance)
        .map(packet -> ((MqttPacket.PubAck) packet).packetId())
        .toList();
  }

  private GatewayPeer peer(Link link) {
    return peer(link, Runnable::run);
  }

  private GatewayPeer peer(Link link, Executor readers) {
    return peer(link, settings, readers);
  }

  private GatewayPeer peer(Link link, DeliverySettings settings, Executor readers) {
    return peer(
        link,
        settings,
        _ -> {
          throw new NoClassDefFoundError("for the test");
        },
        readers);
  }

  private GatewayPeer peer(
      Link link, DeliverySettings settings, Consumer<DeviceKey> drain, Executor readers) {
    var shared =
        new FrameTargets.Shared(
            table,
            new TargetPermits(100, meters),
            settings,
            metrics,
            clock,
            () -> 0,
            new NoOwnershipDoubts());
    return new GatewayPeer(
        link,
        settings,
        metrics,
        new FrameDispatch(shared),
        new BroadcastDispatch(shared),
        drain,
        readers);
  }

  private static MqttPacket connect(String clientId, String password) {
    return new MqttPacket.Connect(
        MqttVersion.V5,
        true,
        60,
        clientId,
        "gateway",
        Binary.of(password),
        null,
        MqttProperties.NONE);
  }

  /// A frame for devices that are not connected.
  private MqttPacket deliver(int packetId, int targets) {
    var now = clock.instant();
    var id = new MessageId("0190ca00-0000-7000-8000-000000000001");
    var message = new NodeFrame.Message(id, now.plusSeconds(60), "{}");
    var frame =
        new NodeFrame(
            "frame-" + packetId,
            now.plusSeconds(25),
            List.of(message),
            IntStream.range(0, targets)
                .mapToObj(
                    n -> new NodeFrame.Target(new AppId("shop"), new DeviceId("d" + n), 0, null))
                .toList());
    return publish(NodeFrame.DELIVER_TOPIC, packetId, WireForm.write(frame));
  }

  private static MqttPacket drain(int packetId) {
    var device = new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1"));
    return publish(
        NodeFrame.DRAIN_TOPIC, packetId, WireForm.write(new NodeFrame.Drain(List.of(device))));
  }

  private static MqttPacket publish(String topic, int packetId, byte[] payload) {
    return new MqttPacket.Publish(
        topic, new Binary(payload), QoS.AT_LEAST_ONCE, false, false, packetId, MqttProperties.NONE);
  }
}
