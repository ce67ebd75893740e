package io.pushplanet.cm.delivery;

import static org.assertj.core.api.Assertions.assertThat;

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
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

  private GatewayPeer peer(Link link) {
    return new GatewayPeer(
        link,
        settings,
        metrics,
        new FrameDispatch(table, settings, metrics, clock, () -> 0, new NoDoubts()),
        new BroadcastDispatch(table, settings, metrics, clock, () -> 0, new NoDoubts()),
        _ -> {
          throw new NoClassDefFoundError("for the test");
        },
        task -> {
          try {
            task.run();
          } catch (NoClassDefFoundError threadEnds) {
            assertThat(threadEnds).hasMessage("for the test");
          }
        });
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

  private static MqttPacket drain(int packetId) {
    var device = new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1"));
    return new MqttPacket.Publish(
        NodeFrame.DRAIN_TOPIC,
        new Binary(WireForm.write(new NodeFrame.Drain(List.of(device)))),
        QoS.AT_LEAST_ONCE,
        false,
        false,
        packetId,
        MqttProperties.NONE);
  }
}
