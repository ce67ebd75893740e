package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.MqttLink;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Connection;
import io.pushplanet.cm.transport.FakeSockets;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.testing.MutableClock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// What devices read about their keep-alive once their network has been learned: the node's own
/// code from the bytes of CONNECT to those of CONNACK, on a loop whose time is moved by hand.
class KeepAliveAdviceTest {
  private static final int WISHED = 60;

  /// No longer interval could be tried, so each device is told the same.
  private static final int PROVEN = 1_800;

  /// More often than a network must show a silence before it counts.
  private static final int OFTEN = 60;

  private static final PacketEncoder ENCODER = new PacketEncoder();
  private static final MqttProperties HONG_KONG = operator("45400");
  private static final MqttProperties SEOUL = operator("45005");

  // From where the pipeline's own rates begin.
  private final AtomicLong nanos = new AtomicLong(System.nanoTime());
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private final FakeSockets sockets;
  private int devices;

  KeepAliveAdviceTest() throws IOException {
    var meters = new SimpleMeterRegistry();
    var gate = new AcceptGate(GateSettings.OPEN, nanos.get(), new SplittableRandom(1));
    var pipeline = FullTable.pipeline(new SessionTable(), 1_000, gate, meters);
    var networks = new Networks(16, MutableClock.started(), new SplittableRandom(2), meters);
    sockets =
        new FakeSockets(
            gate,
            meters,
            nanos::get,
            connection -> new MqttLink(connection, networks, pipeline::accepted));
    onLoop(() -> sockets.onSent(sent::writeBytes));
  }

  @AfterEach
  void close() {
    sockets.close();
  }

  @Test
  void an_mqtt_5_device_keeps_its_wish_while_nothing_is_known() {
    assertThat(toldAfterConnect(MqttProperties.NONE)).isEqualTo(WISHED);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void an_mqtt_5_device_is_told_what_its_network_has_proven(MqttVersion version) {
    prove(version, MqttProperties.NONE);

    assertThat(toldAfterConnect(MqttProperties.NONE)).isEqualTo(PROVEN);
  }

  /// All devices here have the same address.
  @Test
  void the_operator_that_a_connect_names_is_the_network() {
    prove(MqttVersion.V5, HONG_KONG);

    assertThat(toldAfterConnect(HONG_KONG)).isEqualTo(PROVEN);
    assertThat(toldAfterConnect(SEOUL)).isEqualTo(WISHED);
    assertThat(toldAfterConnect(MqttProperties.NONE)).isEqualTo(WISHED);
  }

  @Test
  void an_operator_without_mcc_and_mnc_is_not_looked_at() {
    prove(MqttVersion.V5, MqttProperties.NONE);

    assertThat(toldAfterConnect(operator("my operator"))).isEqualTo(PROVEN);
    assertThat(toldAfterConnect(MqttProperties.builder().user("Operator", "45400").build()))
        .as("names are compared letter by letter")
        .isEqualTo(PROVEN);
  }

  @Test
  void the_told_keep_alive_is_the_one_that_applies() {
    prove(MqttVersion.V5, MqttProperties.NONE);
    var connection = connect(MqttVersion.V5, WISHED, MqttProperties.NONE);

    assertThat(isOpenAfter(connection, Duration.ofSeconds(PROVEN * 3 / 2))).isTrue();
    assertThat(isOpenAfter(connection, Duration.ofSeconds(1))).isFalse();
  }

  /// Its CONNACK has no room for advice.
  @Test
  void a_3_1_1_device_is_told_nothing_and_its_own_keep_alive_applies() {
    prove(MqttVersion.V5, MqttProperties.NONE);
    sent.reset();
    var connection = connect(MqttVersion.V3_1_1, WISHED, MqttProperties.NONE);

    assertThat(sent.toByteArray()).isEqualTo(new byte[] {0x20, 2, 0, 0});
    assertThat(isOpenAfter(connection, Duration.ofSeconds(WISHED * 3 / 2))).isTrue();
    assertThat(isOpenAfter(connection, Duration.ofSeconds(1))).isFalse();
  }

  private static MqttProperties operator(String name) {
    return MqttProperties.builder().user("operator", name).build();
  }

  /// One device's pings end many long silences.
  private void prove(MqttVersion version, MqttProperties properties) {
    var connection = connect(version, PROVEN, properties);
    for (int count = 0; count < OFTEN; count++) {
      pass(Duration.ofSeconds(PROVEN));
      onLoop(() -> sockets.receive(connection, ENCODER.encode(new MqttPacket.PingReq(), version)));
    }
    assertThat(isOpenAfter(connection, Duration.ZERO)).isTrue();
  }

  /// The keep-alive of an MQTT 5 device that wishes for [#WISHED]: from CONNACK, or else its own.
  private long toldAfterConnect(MqttProperties properties) {
    sent.reset();
    connect(MqttVersion.V5, WISHED, properties);
    var outcome =
        new PacketDecoder()
            .decode(
                ByteBuffer.wrap(sent.toByteArray()), MqttVersion.V5, PacketLimits.UNAUTHENTICATED);
    if (outcome instanceof DecodeOutcome.Decoded(MqttPacket.ConnAck welcome)) {
      assertThat(welcome.code()).isZero();
      return welcome.properties().number(PropertyId.SERVER_KEEP_ALIVE, WISHED);
    }
    throw new AssertionError("no CONNACK: " + outcome);
  }

  private Connection connect(MqttVersion version, int keepAlive, MqttProperties properties) {
    var device = new DeviceId("d" + ++devices);
    byte[] connect =
        ENCODER.encode(
            new MqttPacket.Connect(
                version,
                true,
                keepAlive,
                device.value(),
                FullTable.APP.value(),
                FullTable.password(device),
                null,
                version == MqttVersion.V5 ? properties : MqttProperties.NONE),
            version);
    var connection = onLoop(sockets::accept);
    onLoop(() -> sockets.receive(connection, connect));
    return connection;
  }

  private boolean isOpenAfter(Connection connection, Duration time) {
    pass(time);
    onLoop(() -> sockets.sweep(connection));
    return onLoop(connection::isOpen);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private void onLoop(Runnable step) {
    onLoop(Executors.callable(step));
  }

  /// Runs the step in a turn that begins now, and waits until all that follows from it was sent.
  private <T> T onLoop(Callable<T> step) {
    T result = sockets.inTurn(step);
    for (int turn = 0; turn < 3; turn++) {
      sockets.inTurn(() -> {});
    }
    return result;
  }
}
