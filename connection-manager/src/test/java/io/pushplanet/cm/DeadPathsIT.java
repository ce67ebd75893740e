package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.transport.CloseCause;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A device behind a dead network path is disconnected when a message goes unanswered, not half an
/// hour later.
class DeadPathsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static TestNode node;
  private static TestGateway gateway;

  private DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() throws Exception {
    node = TestNode.start("--cm.keep-alive.dead-path-after=3s");
    gateway = new TestGateway(node, "gw-dead-paths");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  @Test
  void ntfy_757_a_device_that_says_nothing_after_a_message_goes_back_to_its_gateway()
      throws Exception {
    Undisturbed.play(this::silence);
  }

  private void silence() throws Exception {
    device = TestNode.newDevice();
    double before = deadPaths();
    try (var silent = subscribed()) {
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      silent.expect(MqttPacket.Publish.class);

      var outcome = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);

      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
      assertThat(silent.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.KEEP_ALIVE_TIMEOUT);
      assertThat(deadPaths()).isEqualTo(before + 1);
      assertThat(gateway.deliver(device, TestNode.newMessage(), "{}").result())
          .as("nobody waits for it again")
          .isEqualTo(Result.NOT_HERE);
    }
  }

  /// The client is told in DISCONNECT, and a backend sees it in the directory.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void ntfy_1101_gotify_android_188_a_device_with_a_dead_path_is_told_and_counts_as_away(
      MqttVersion version) throws Exception {
    device = TestNode.newDevice();
    try (var silent = new RawClient(node.port("mqtt"), version)) {
      silent.patience(PATIENCE);
      silent.send(RawClient.connect(version, device)).expect(MqttPacket.ConnAck.class);
      silent.subscribe().expect(MqttPacket.SubAck.class);
      gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      silent.expect(MqttPacket.Publish.class);

      assertThat(SharedNode.end(silent))
          .isEqualTo(
              version == MqttVersion.V5 ? ReasonCode.KEEP_ALIVE_TIMEOUT : ReasonCode.SUCCESS);
      var directory = node.bean(SessionDirectory.class);
      Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    }
  }

  @Test
  void ntfy_1834_ntfy_556_ntfy_android_104_a_dozing_phone_gets_its_messages_when_it_wakes()
      throws Exception {
    Undisturbed.play(this::doze);
  }

  private void doze() throws Exception {
    device = TestNode.newDevice();
    var message = TestNode.newMessage();
    try (var dozing = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      dozing.patience(PATIENCE);
      dozing.send(SharedNode.persistent(device, MqttVersion.V5)).expect(MqttPacket.ConnAck.class);
      dozing.subscribe().expect(MqttPacket.SubAck.class);
      var answers = gateway.send(List.of(device), message, "{\"n\":1}", PATIENCE);
      // The packet never reaches the phone.
      var outcome = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
    }
    node.park(device, "slot", TestNode.newMessage(), "{\"n\":2}", Duration.ofHours(1));

    try (var awake = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      awake.patience(PATIENCE);
      awake.send(SharedNode.persistent(device, MqttVersion.V5)).expect(MqttPacket.ConnAck.class);
      for (int n = 1; n <= 2; n++) {
        var publish = awake.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of("{\"n\":" + n + "}"));
        SharedNode.acknowledge(awake, publish);
      }
      SharedNode.silent(awake);
    }
  }

  @Test
  void ntfy_687_ntfy_1195_nothing_is_said_to_an_idle_device_and_it_is_not_cut() throws Exception {
    device = TestNode.newDevice();
    try (var idle = subscribed()) {
      var sweeps = node.bean(MeterRegistry.class).get("cm.transport.sweep").timer();
      long before = sweeps.count();
      Eventually.within(PATIENCE, () -> assertThat(sweeps.count()).isGreaterThan(before + 5));

      SharedNode.silent(idle);
    }
  }

  @Test
  void a_device_that_is_slow_but_pings_stays() throws Exception {
    Undisturbed.play(this::slowness);
  }

  private void slowness() throws Exception {
    device = TestNode.newDevice();
    try (var slow = subscribed()) {
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      var publish = slow.expect(MqttPacket.Publish.class);
      long sent = System.nanoTime();
      // Twice as long as the limit for a dead path, with signs of life all the time.
      while (System.nanoTime() - sent < TimeUnit.SECONDS.toNanos(6)) {
        slow.send(new MqttPacket.PingReq());
        slow.expect(MqttPacket.PingResp.class);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }

      slow.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      var outcome = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
  }

  /// At QoS 0 no PUBACK is missed, so only the kernel knows. It treats a peer that has no room for
  /// bytes like one that does not answer.
  @Test
  void after_a_message_at_qos_0_the_kernel_finds_the_dead_path() throws Exception {
    assumeTrue(Sockets.AUTO.resolved() == Sockets.EPOLL);
    try (var impatient = TestNode.start("--cm.transport.user-timeout=1s");
        var sender = new TestGateway(impatient, "gw-dead-paths-0");
        var socket = new Socket()) {
      socket.setReceiveBufferSize(4 * 1024);
      socket.connect(new InetSocketAddress("127.0.0.1", impatient.port("mqtt")));
      var deaf = new RawClient(socket, MqttVersion.V5);
      deaf.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      deaf.send(
              new MqttPacket.Subscribe(
                  1,
                  List.of(new SubscriptionRequest("push/messages", QoS.AT_MOST_ONCE)),
                  MqttProperties.NONE))
          .expect(MqttPacket.SubAck.class);

      for (int count = 0; count < 20; count++) {
        sender.send(
            List.of(device),
            TestNode.newMessage(),
            '"' + "x".repeat(8 * 1024) + '"',
            Duration.ofSeconds(30));
      }

      var meters = impatient.bean(MeterRegistry.class);
      Eventually.within(
          PATIENCE, () -> assertThat(closed(meters, CloseCause.DEAD_PATH)).isEqualTo(1));
      assertThat(deadPaths(meters)).isEqualTo(1);
      var directory = impatient.bean(SessionDirectory.class);
      Eventually.within(PATIENCE, () -> assertThat(directory.owner(device)).isEmpty());
    }
  }

  @Test
  void a_peer_that_resets_its_connection_has_no_dead_path() throws Exception {
    var meters = node.bean(MeterRegistry.class);
    double before = deadPaths();
    double gone = closed(meters, CloseCause.PEER);
    try (var socket = new Socket("127.0.0.1", node.port("mqtt"))) {
      socket.setSoLinger(true, 0);
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
    }

    Eventually.within(
        PATIENCE, () -> assertThat(closed(meters, CloseCause.PEER)).isGreaterThan(gone));
    assertThat(deadPaths()).isEqualTo(before);
  }

  private static double closed(MeterRegistry meters, CloseCause cause) {
    return meters
        .get("cm.transport.closed")
        .tag("cause", cause.name().toLowerCase(Locale.ROOT))
        .counter()
        .count();
  }

  private RawClient subscribed() throws Exception {
    return RawClient.subscribed(node.port("mqtt"), RawClient.connect(MqttVersion.V5, device));
  }

  private static double deadPaths() {
    return deadPaths(node.bean(MeterRegistry.class));
  }

  private static double deadPaths(MeterRegistry meters) {
    return meters.get("cm.session.dead.paths").counter().count();
  }
}
