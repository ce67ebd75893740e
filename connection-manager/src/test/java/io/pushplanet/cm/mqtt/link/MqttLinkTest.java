package io.pushplanet.cm.mqtt.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.transport.Connection;
import io.pushplanet.cm.transport.FakeSockets;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.testing.MutableClock;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// The silence of a peer, on a loop whose time is moved by hand.
class MqttLinkTest {
  private static final int KEEP_ALIVE = 300;
  private static final Duration OUTAGE = Duration.ofMinutes(20);

  /// More often than a network must show a silence before it counts.
  private static final int OFTEN = 60;

  private static final PacketEncoder ENCODER = new PacketEncoder();

  /// A ping would prove no more than the keep-alive that caused it.
  private static final byte[] UPLINK =
      ENCODER.encode(
          new MqttPacket.Publish(
              "push/uplink", Binary.EMPTY, QoS.AT_MOST_ONCE, false, false, 0, MqttProperties.NONE),
          MqttVersion.V3_1_1);

  private final AtomicLong nanos = new AtomicLong(1);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Networks networks =
      new Networks(1, MutableClock.started(), new SplittableRandom(1), meters);
  private final AtomicReference<MqttLink> newest = new AtomicReference<>();
  private final List<ReasonCode> refused = new ArrayList<>();
  private final FakeSockets sockets;

  MqttLinkTest() throws IOException {
    sockets =
        new FakeSockets(
            new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(2)),
            meters,
            nanos::get,
            connection -> new MqttLink(connection, networks, Peer::new));
  }

  @AfterEach
  void close() {
    sockets.close();
  }

  @ParameterizedTest
  @EnumSource
  void a_peer_that_is_not_read_is_not_silent(MqttVersion version) {
    var connection = connected(version);
    var link = newest.get();
    sockets.inTurn(link::pauseReading);

    pass(OUTAGE);
    sockets.inTurn(() -> sockets.sweep(connection));
    assertThat(link.isOpen()).isTrue();
    sockets.inTurn(() -> {
      link.resumeReading();
      sockets.sweep(connection);
      assertThat(link.hasHeardSince(1)).as("a dead path").isTrue();
    });
    assertThat(link.isOpen()).isTrue();
    pass(Duration.ofSeconds(KEEP_ALIVE * 3 / 2));
    sockets.inTurn(() -> sockets.sweep(connection));
    assertThat(refused).isEmpty();
    pass(Duration.ofNanos(1));
    sockets.inTurn(() -> sockets.sweep(connection));

    assertThat(refused).containsExactly(ReasonCode.KEEP_ALIVE_TIMEOUT);
    assertThat(link.isOpen()).isFalse();
  }

  @Test
  void a_network_proves_nothing_while_its_devices_are_not_read() {
    var connection = connected(MqttVersion.V3_1_1);
    var link = newest.get();

    for (int count = 0; count < OFTEN; count++) {
      sockets.inTurn(link::pauseReading);
      pass(OUTAGE);
      sockets.inTurn(link::resumeReading);
      uplink(connection);
    }

    assertThat(advised()).isEqualTo(KEEP_ALIVE);
  }

  @Test
  void a_devices_silence_while_it_is_read_proves_its_network() {
    var connection = connected(MqttVersion.V3_1_1);

    for (int count = 0; count < OFTEN; count++) {
      pass(OUTAGE);
      uplink(connection);
    }

    assertThat(advised()).isGreaterThan(KEEP_ALIVE);
  }

  @Test
  void a_device_that_reconnects_while_it_is_not_read_blames_no_network() {
    for (int count = 0; count < OFTEN; count++) {
      connected(MqttVersion.V3_1_1);
      sockets.inTurn(newest.get()::pauseReading);
      takenOverAfterAnOutage();
    }

    assertThat(advised()).isEqualTo(KEEP_ALIVE);
  }

  @Test
  void a_device_that_reconnects_while_it_is_overdue_blames_its_network() {
    for (int count = 0; count < OFTEN; count++) {
      connected(MqttVersion.V3_1_1);
      takenOverAfterAnOutage();
    }

    assertThat(advised()).isLessThan(KEEP_ALIVE);
  }

  /// The device is overdue, but not yet disconnected.
  @Test
  void a_dead_path_is_blamed_for_no_longer_silence_than_the_keep_alive() {
    for (int count = 0; count < OFTEN; count++) {
      connected(MqttVersion.V3_1_1);
      pass(Duration.ofSeconds(KEEP_ALIVE * 4 / 3));
      sockets.inTurn(() -> newest.get().pathDied(sockets.loop().nowNanos()));
    }

    assertThat(advised()).isLessThan(KEEP_ALIVE);
  }

  @Test
  void packets_sent_together_with_connect_do_not_answer_connack() {
    var connection = sockets.inTurn(sockets::accept);
    byte[] connect = connect(MqttVersion.V3_1_1);
    var together = ByteBuffer.allocate(connect.length + UPLINK.length).put(connect).put(UPLINK);
    sockets.inTurn(() -> sockets.receive(connection, together.array()));
    var link = newest.get();

    pass(Duration.ofMillis(5));
    sockets.inTurn(link::resumeReading);
    assertThat(sockets.inTurn(link::hasSpoken)).isFalse();
    pass(Duration.ofMillis(5));
    uplink(connection);

    assertThat(sockets.inTurn(link::hasSpoken)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void half_a_packet_is_a_sign_of_life_when_it_came_and_not_for_ever(MqttVersion version) {
    var connection = connected(version);
    var link = newest.get();
    pass(Duration.ofSeconds(1));
    sockets.inTurn(() -> sockets.receive(connection, Arrays.copyOfRange(UPLINK, 0, 2)));
    pass(Duration.ofSeconds(1));
    long sent = nanos.get();

    pass(Duration.ofSeconds(30));
    assertThat(sockets.inTurn(() -> link.hasHeardSince(sent))).as("nothing came").isFalse();
    sockets.inTurn(() -> sockets.receive(connection, Arrays.copyOfRange(UPLINK, 2, 4)));
    assertThat(sockets.inTurn(() -> link.hasHeardSince(sent))).as("a bit more of it came").isTrue();
  }

  /// Like a device's connection, it is not read until its CONNECT is answered.
  private final class Peer implements MqttPeer {
    private final MqttLink link;

    Peer(MqttLink link) {
      this.link = link;
      newest.set(link);
    }

    @Override
    public void packet(MqttPacket packet) {
      if (packet instanceof MqttPacket.Connect connect) {
        link.pauseReading();
        var keepAlive = new KeepAlive(connect.keepAliveSeconds(), false);
        link.advised(connect, keepAlive);
        link.accept(connect.version(), PacketLimits.UNAUTHENTICATED, keepAlive, false);
      }
    }

    @Override
    public void refused(ReasonCode reason, String why) {
      refused.add(reason);
    }

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

  private Connection connected(MqttVersion version) {
    return sockets.inTurn(() -> {
      var connection = sockets.accept();
      sockets.receive(connection, connect(version));
      newest.get().resumeReading();
      return connection;
    });
  }

  private static byte[] connect(MqttVersion version) {
    return ENCODER.encode(
        new MqttPacket.Connect(
            version, true, KEEP_ALIVE, "d1", null, null, null, MqttProperties.NONE),
        version);
  }

  private void uplink(Connection connection) {
    sockets.inTurn(() -> sockets.receive(connection, UPLINK));
  }

  private void takenOverAfterAnOutage() {
    pass(OUTAGE);
    sockets.inTurn(() -> newest.get().disconnect(ReasonCode.SESSION_TAKEN_OVER, "connected again"));
  }

  /// The keep-alive that the network's next device is given.
  private int advised() {
    var network = networks.of(InetAddress.getLoopbackAddress(), Optional.empty());
    return networks.advise(network, KEEP_ALIVE);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
