package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// What a listener must withstand from any peer: declared lengths, rubbish, silence before CONNECT,
/// and a peer that does not read.
@Execution(ExecutionMode.CONCURRENT)
class ListenerLimitsIT {
  private static final int MAX_PENDING_BYTES = 64 * 1024;
  private static TestNode node;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() {
    node = TestNode.start();
  }

  @AfterAll
  static void stop() {
    node.close();
  }

  @Test
  void mqtt311_4_8_0_1_rubbish_on_each_listener_ends_that_connection_and_nothing_else()
      throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("rubbish: seed=" + seed + " (again with -Dseed=" + seed + ")");
    var random = new Random(seed);
    try (var witness = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      witness.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      for (int round = 0; round < 60; round++) {
        var listener = round % 2 == 0 ? "mqtt" : "gateway";
        var bytes = new byte[1 + random.nextInt(4000)];
        random.nextBytes(bytes);
        // Any packet but CONNECT is refused at its first byte.
        bytes[0] = (byte) (bytes[0] & 0x0F | (2 + random.nextInt(14)) << 4);
        try (var client = new RawClient(node.port(listener), MqttVersion.V5)) {
          client.send(bytes);
          assertThat(client.next()).isEmpty();
        } catch (IOException reset) {
          assertThat(reset).isNotNull();
        }
      }
      SharedNode.silent(witness);
    }
    awaitNothingHeld();
  }

  /// Only the fixed header is sent, so the refusal is due to the declared length, before any
  /// further byte.
  @ParameterizedTest
  @CsvSource({"mqtt, 8193", "mqtt, 268435455", "gateway, 8193", "gateway, 268435455"})
  void a_first_packet_that_declares_more_than_8_kb_is_refused(String listener, int length)
      throws Exception {
    for (var versionSeen : List.of("", "00044D51545405")) {
      try (var client = new RawClient(node.port(listener), MqttVersion.V5)) {
        client.send(HexFormat.of().parseHex(header(0x10, length) + versionSeen));
        var answer = client.next();

        // If the version has not arrived, the socket closes without a packet; otherwise the client
        // is told.
        answer.ifPresent(refused ->
            assertThat(((MqttPacket.ConnAck) refused).code())
                .isEqualTo(ReasonCode.PACKET_TOO_LARGE.code()));
        assertThat(answer.isEmpty() || client.next().isEmpty()).isTrue();
      }
    }
    awaitNothingHeld();
  }

  @Test
  void a_first_packet_of_exactly_8_kb_is_read() throws Exception {
    for (var version : MqttVersion.values()) {
      // Two length bytes follow the first byte, whatever the name's length here.
      int without =
          new PacketEncoder().encode(userNamed(version, "u".repeat(1_000)), version).length - 1_003;
      try (var client = new RawClient(node.port("mqtt"), version)) {
        client.send(userNamed(version, "u".repeat(8_192 - without)));

        // The packet was read, and the name is refused.
        assertThat(client.expect(MqttPacket.ConnAck.class).code())
            .isEqualTo(version == MqttVersion.V5 ? 0x86 : 4);
      }
    }
  }

  private static Connect userNamed(MqttVersion version, String name) {
    return new Connect(version, true, 60, "x", name, null, null, MqttProperties.NONE);
  }

  /// Each listener's peer may send as much.
  @ParameterizedTest
  @EnumSource
  void a_device_whose_half_packet_finds_no_room_beside_those_of_others_is_told_so(
      MqttVersion version) throws Exception {
    var uplink =
        new PacketEncoder()
            .encode(
                new MqttPacket.Publish(
                    "push/uplink",
                    Binary.of("u".repeat(4_000)),
                    QoS.AT_MOST_ONCE,
                    false,
                    false,
                    0,
                    MqttProperties.NONE),
                version);
    var half = Arrays.copyOf(uplink, uplink.length / 2);
    try (var small = TestNode.start("--cm.transport.partial-bytes=5KB");
        var first = connected(small, version);
        var second = connected(small, version)) {
      var held = small.bean(MeterRegistry.class).get("cm.transport.partial.bytes").gauge();
      first.send(half);
      Eventually.within(
          SharedNode.PATIENCE, () -> assertThat(held.value()).isGreaterThanOrEqualTo(half.length));

      second.send(Arrays.copyOf(uplink, uplink.length - 1));

      assertThat(SharedNode.end(second))
          .isEqualTo(ConnectScene.told(version, ReasonCode.QUOTA_EXCEEDED));
      first.send(Arrays.copyOfRange(uplink, half.length, uplink.length));
      SharedNode.silent(first);
      assertThat(held.value()).isZero();
    }
  }

  private static RawClient connected(TestNode at, MqttVersion version) throws Exception {
    var client = new RawClient(at.port("mqtt"), version);
    client.send(RawClient.connect(version, TestNode.newDevice())).expect(MqttPacket.ConnAck.class);
    return client;
  }

  @Test
  void a_packet_that_declares_more_than_a_device_may_send_is_refused() throws Exception {
    for (int length : new int[] {0, 268_435_455}) {
      try (var young = new RawClient(node.port("mqtt"), MqttVersion.V5);
          var old = new RawClient(node.port("mqtt"), MqttVersion.V3_1_1)) {
        young.send(RawClient.connect(MqttVersion.V5, device));
        old.send(RawClient.connect(MqttVersion.V3_1_1, TestNode.newDevice()));
        old.expect(MqttPacket.ConnAck.class);
        var welcome = young.expect(MqttPacket.ConnAck.class).properties();
        int most = (int) welcome.number(PropertyId.MAXIMUM_PACKET_SIZE, 0);
        var bytes = HexFormat.of().parseHex(header(0x32, length == 0 ? most + 1 : length));
        young.send(bytes);
        old.send(bytes);

        assertThat(young.expect(MqttPacket.Disconnect.class).reason())
            .isEqualTo(ReasonCode.PACKET_TOO_LARGE);
        assertThat(young.next()).isEmpty();
        assertThat(old.next()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, true", "2097152, false", "268435455, false"})
  void a_gateway_may_send_a_megabyte_but_not_two(int length, boolean taken) throws Exception {
    var gateway =
        new Connect(
            MqttVersion.V5,
            true,
            60,
            "gw-limits",
            "gateway",
            Binary.of(TestNode.GATEWAY_PASSWORD),
            null,
            MqttProperties.NONE);
    try (var client = new RawClient(node.port("gateway"), MqttVersion.V5)) {
      assertThat(client.send(gateway).expect(MqttPacket.ConnAck.class).code()).isZero();
      if (taken) {
        client.publish("elsewhere", "x".repeat(1 << 20), QoS.AT_LEAST_ONCE, false);
        assertThat(client.expect(MqttPacket.PubAck.class).reason())
            .isEqualTo(ReasonCode.NOT_AUTHORIZED);
      } else {
        client.send(HexFormat.of().parseHex(header(0x32, length)));
        assertThat(client.expect(MqttPacket.Disconnect.class).reason())
            .isEqualTo(ReasonCode.PACKET_TOO_LARGE);
        assertThat(client.next()).isEmpty();
      }
    }
  }

  private static String header(int first, int length) {
    var hex = new StringBuilder(HexFormat.of().toHexDigits((byte) first));
    for (int rest = length; ; rest >>>= 7) {
      hex.append(HexFormat.of().toHexDigits((byte) (rest > 0x7F ? rest & 0x7F | 0x80 : rest)));
      if (rest <= 0x7F) {
        return hex.toString();
      }
    }
  }

  @Test
  void a_client_that_sends_no_connect_within_five_seconds_is_closed() throws Exception {
    Undisturbed.play(() -> {
      long begin = System.nanoTime();
      try (var client = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
        client.send(HexFormat.of().parseHex("10"));

        assertThat(client.next()).isEmpty();

        assertThat(Duration.ofNanos(System.nanoTime() - begin))
            .isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8));
      }
    });
  }

  /// The device acknowledges nothing and reads nothing, and everything is sent to it at once.
  @Test
  void pushy_139_pushy_407_a_slow_reader_is_bounded_and_closed_and_each_message_comes_back_once()
      throws Exception {
    try (var slow =
            TestNode.start(
                "--cm.session.window=1000",
                "--cm.transport.write-stall=2s",
                "--cm.transport.pending-bytes=" + MAX_PENDING_BYTES + "B");
        var gateway = new TestGateway(slow, "gw-slow");
        var socket = new Socket()) {
      socket.setReceiveBufferSize(4096);
      socket.connect(new InetSocketAddress("127.0.0.1", slow.port("mqtt")));
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      // From here on the node knows that the inbox is empty, and sends at once.
      gateway.send(List.of(device), TestNode.newMessage(), "{}", SharedNode.PATIENCE);
      SharedNode.acknowledge(client, client.expect(MqttPacket.Publish.class));
      var meters = slow.bean(MeterRegistry.class);
      long handedBefore = meters.get("cm.delivery.written").timer().count();
      double writtenBefore = written(meters);

      var sent = new LinkedHashMap<String, BlockingQueue<Outcome>>();
      for (int n = 0; n < 200; n++) {
        var payload = "{\"n\":" + n + ",\"body\":\"" + "x".repeat(40_000) + "\"}";
        sent.put(
            payload,
            gateway.send(List.of(device), TestNode.newMessage(), payload, SharedNode.PATIENCE));
      }

      for (var outcomes : sent.values()) {
        assertThat(TestGateway.next(outcomes).result()).isEqualTo(Result.NOT_HERE);
      }
      var closed = meters.get("cm.transport.closed").tag("cause", "slow_reader").counter();
      assertThat(closed.count()).isEqualTo(1);
      long handed = meters.get("cm.delivery.written").timer().count() - handedBefore;
      assertThat(handed).as("messages that the session took").isBetween(2L, 199L);
      assertThat(handed * 40_000.0 - (written(meters) - writtenBefore))
          .as("bytes that the node held, besides the message that was too much")
          .isLessThanOrEqualTo(MAX_PENDING_BYTES + 40_100);

      assertAllComeWhenParked(slow, gateway, List.copyOf(sent.keySet()));
      assertThat(sent.values()).as("each message ended once").allMatch(Collection::isEmpty);
    }
  }

  /// As the gateway does with messages that come back.
  private void assertAllComeWhenParked(TestNode at, TestGateway gateway, List<String> payloads)
      throws Exception {
    for (int n = 0; n < payloads.size(); n++) {
      at.park(device, "s" + n, TestNode.newMessage(), payloads.get(n), Duration.ofHours(1));
    }
    var oneByOne = MqttProperties.with(PropertyId.RECEIVE_MAXIMUM, 1);
    try (var client =
        RawClient.subscribed(
            at.port("mqtt"), RawClient.connect(MqttVersion.V5, device, true, oneByOne))) {
      gateway.drain(device);
      for (var payload : payloads) {
        var publish = client.expect(MqttPacket.Publish.class);
        assertThat(publish.payload()).isEqualTo(Binary.of(payload));
        SharedNode.acknowledge(client, publish);
      }
      Eventually.within(SharedNode.PATIENCE, () -> assertThat(at.parked(device)).isZero());
    }
  }

  private static double written(MeterRegistry meters) {
    return meters.get("cm.transport.bytes").tag("direction", "written").counter().count();
  }

  private static void awaitNothingHeld() {
    Eventually.within(
        Duration.ofSeconds(60),
        () -> assertThat(node.bean(Transport.class).unauthenticatedBytes()).isZero());
  }
}
