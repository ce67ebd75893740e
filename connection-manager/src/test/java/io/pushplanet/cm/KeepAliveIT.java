package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.cm.transport.OneLoop;
import io.pushplanet.cm.transport.Transport;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The keep-alive over a real socket, on a loop whose time is moved by hand.
class KeepAliveIT {
  /// An idle connection is looked at as often.
  private static final int MAX_SECONDS_UNNOTICED = 16;

  private final AtomicLong nanos = new AtomicLong(1);
  private final CompletableFuture<MqttLink> accepted = new CompletableFuture<>();
  private Transport transport;

  @BeforeEach
  void start() {
    transport =
        OneLoop.serve(
            nanos::get,
            connection -> {
              var link = new MqttLink(connection, Peer::new);
              accepted.complete(link);
              return link;
            });
  }

  @AfterEach
  void stop() {
    transport.close();
  }

  /// An MQTT 5 client's keep-alive is at least a minute, as it is told in CONNACK.
  @ParameterizedTest
  @CsvSource({"V5, 10, 60", "V5, 90, 90", "V3_1_1, 10, 10", "V3_1_1, 90, 90"})
  void mqtt_3_1_2_22_silence_is_allowed_for_one_and_a_half_keep_alives_and_not_for_long_after(
      MqttVersion version, int wished, int granted) throws Exception {
    try (var client = new RawClient(new Socket("127.0.0.1", transport.port("test")), version)) {
      client
          .send(
              new MqttPacket.Connect(
                  version, true, wished, "d1", null, null, null, MqttProperties.NONE))
          .expect(MqttPacket.ConnAck.class);
      int allowed = granted * 3 / 2;
      silent(allowed);
      // A sign of life in the last second.
      client.send(new MqttPacket.PingReq()).expect(MqttPacket.PingResp.class);
      silent(allowed);
      assertThat(isOpen()).isTrue();

      int late = 0;
      for (; isOpen() && late <= MAX_SECONDS_UNNOTICED; late++) {
        silent(1);
      }

      assertThat(late).isBetween(1, MAX_SECONDS_UNNOTICED);
      assertThat(SharedNode.end(client))
          .isEqualTo(ConnectScene.told(version, ReasonCode.KEEP_ALIVE_TIMEOUT));
    }
  }

  /// In each second the loop has a turn.
  private void silent(int seconds) throws Exception {
    for (int second = 0; second < seconds; second++) {
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
      // The first turn may have begun before; the second one ends after a sweep.
      for (int turn = 0; turn < 3; turn++) {
        inLoop(() -> true);
      }
    }
  }

  /// A link that has sent its last packet is not open any more.
  private boolean isOpen() throws Exception {
    return inLoop(() -> accepted.join().isOpen());
  }

  private <T> T inLoop(Callable<T> step) throws Exception {
    var task = new FutureTask<>(step);
    accepted.get(60, TimeUnit.SECONDS).loop().execute(task);
    return task.get(60, TimeUnit.SECONDS);
  }

  private record Peer(MqttLink link) implements MqttPeer {
    @Override
    public void packet(MqttPacket packet) {
      switch (packet) {
        case MqttPacket.Connect connect -> {
          var keepAlive = KeepAlive.of(connect.version(), connect.keepAliveSeconds());
          link.accept(connect.version(), PacketLimits.UNAUTHENTICATED, keepAlive, true);
          link.send(new MqttPacket.ConnAck(false, 0, MqttProperties.NONE));
        }
        case MqttPacket.PingReq() -> link.send(new MqttPacket.PingResp());
        default -> throw new AssertionError(packet);
      }
    }

    @Override
    public void refused(ReasonCode reason, String why) {}

    @Override
    public void flushed() {}

    @Override
    public boolean swept(long nowNanos) {
      return false;
    }

    @Override
    public void stopping() {}

    @Override
    public void closed() {}
  }
}
