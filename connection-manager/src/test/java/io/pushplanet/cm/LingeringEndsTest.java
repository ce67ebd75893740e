package io.pushplanet.cm;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.transport.Connection;
import io.pushplanet.cm.transport.FakeSockets;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
import java.io.IOException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The node ends a connection, and the client keeps its side of the socket open: will, session and
/// directory do not wait for the socket. The loop's time is moved by hand.
class LingeringEndsTest extends PipelineScene {
  private static final PacketEncoder ENCODER = new PacketEncoder();

  private final AtomicLong nanos = new AtomicLong(1);
  private final AtomicReference<MqttLink> newest = new AtomicReference<>();
  private final ConnectionPipeline pipeline = pipeline(10);
  private final FakeSockets sockets;

  LingeringEndsTest() throws IOException {
    sockets =
        new FakeSockets(
            new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(2)),
            meters,
            nanos::get,
            connection -> {
              var link = new MqttLink(connection, pipeline::accepted);
              newest.set(link);
              return link;
            });
  }

  @AfterEach
  void close() {
    sockets.close();
  }

  /// How the node ends a connection.
  private enum End {
    KEEP_ALIVE,
    MALFORMED_PACKET,
    SECOND_CONNECT,
    FOREIGN_TOPIC,
    NO_ROOM_FOR_PARTIAL_PACKET,
    TAKEN_OVER,
    NODE_LEAVES,
    SLOW_READER
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void mqtt_3_1_2_8_a_will_does_not_wait_for_the_socket_of_a_connection_that_the_node_ends(
      MqttVersion version) {
    for (var how : End.values()) {
      told.clear();
      var device = new DeviceKey(APP, new DeviceId(how.name()));
      var connection = connected(version, device, 0);
      assertThat(told).isEmpty();

      end(connection, device, version, how);

      assertThat(newest.get().isOpen()).as("%s", how).isFalse();
      assertThat(sockets.inTurn(sockets::open)).as("%s: its socket", how).isEqualTo(lingering(how));
      assertThat(told).as("%s: its will", how).hasSize(1);
      assertThat(table.size()).as("%s: its session", how).isZero();
      letClaimsGo();
      assertThat(directory.lastCommands())
          .as("%s: the directory", how)
          .hasAtLeastOneElementOfType(Command.End.class);

      pass(Duration.ofMillis(2_001));
      sockets.inTurn(() -> sockets.sweep(connection));
      assertThat(sockets.inTurn(sockets::open)).as("%s: its socket", how).isZero();
      assertThat(told).as("%s: its will, once", how).hasSize(1);
    }
  }

  @Test
  void mqtt_3_1_2_8_a_wills_delay_begins_when_the_node_ends_the_connection() {
    var device = new DeviceKey(APP, new DeviceId("d1"));
    var connection = connected(MqttVersion.V5, device, 60);

    end(connection, device, MqttVersion.V5, End.KEEP_ALIVE);

    assertThat(sockets.inTurn(sockets::open)).isOne();
    assertThat(told).isEmpty();
    assertThat(due).as("timers").hasSize(1);
    due.getFirst().run();
    assertThat(told).hasSize(1);
  }

  private void end(Connection connection, DeviceKey device, MqttVersion version, End how) {
    DeviceSession session = requireNonNull(table.find(device));
    switch (how) {
      case KEEP_ALIVE -> {
        pass(Duration.ofSeconds(91));
        sockets.inTurn(() -> sockets.sweep(connection));
      }
      case MALFORMED_PACKET -> receive(connection, new byte[] {0, 0});
      case SECOND_CONNECT ->
          receive(connection, ENCODER.encode(connect(version, device, 0), version));
      case FOREIGN_TOPIC ->
          receive(
              connection,
              ENCODER.encode(
                  new MqttPacket.Publish(
                      "elsewhere",
                      Binary.of("x"),
                      QoS.AT_MOST_ONCE,
                      false,
                      false,
                      0,
                      MqttProperties.NONE),
                  version));
      case NO_ROOM_FOR_PARTIAL_PACKET -> sockets.inTurn(newest.get()::crowded);
      case TAKEN_OVER ->
          registrar.hear(
              new Takeover(device, new SessionOwner(new NodeId("b"), session.epoch() + 1)));
      case NODE_LEAVES ->
          sockets.inTurn(
              () -> session.leave(ReasonCode.SERVER_SHUTTING_DOWN, MqttProperties.NONE, 0));
      case SLOW_READER -> sockets.inTurn(() -> newest.get().sendEncoded(new byte[(1 << 16) + 1]));
    }
    sockets.inTurn(() -> {});
  }

  /// The socket of a slow reader closes at once.
  private static int lingering(End how) {
    return how == End.SLOW_READER ? 0 : 1;
  }

  private Connection connected(MqttVersion version, DeviceKey device, int willDelaySeconds) {
    var connection =
        sockets.inTurn(() -> {
          var made = sockets.accept();
          sockets.receive(
              made, ENCODER.encode(connect(version, device, willDelaySeconds), version));
          return made;
        });
    letClaimsGo();
    assertThat(table.find(device)).isNotNull();
    return connection;
  }

  private MqttPacket.Connect connect(MqttVersion version, DeviceKey device, int willDelaySeconds) {
    var will =
        new Will(
            "push/uplink",
            Binary.of("gone"),
            QoS.AT_LEAST_ONCE,
            false,
            willDelaySeconds == 0
                ? MqttProperties.NONE
                : MqttProperties.with(PropertyId.WILL_DELAY_INTERVAL, willDelaySeconds));
    return new MqttPacket.Connect(
        version,
        true,
        60,
        device.device().value(),
        device.app().value(),
        Binary.of(credential.mint(device.app(), device.device(), Duration.ofDays(1))),
        will,
        willDelaySeconds == 0
            ? MqttProperties.NONE
            : MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600));
  }

  private void receive(Connection connection, byte[] bytes) {
    sockets.inTurn(() -> sockets.receive(connection, bytes));
  }

  private void letClaimsGo() {
    for (var next = redis.poll(); next != null; next = redis.poll()) {
      next.run();
      sockets.inTurn(() -> {});
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
