package io.pushplanet.cm;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Bots, broken clients and attackers. `-Dhostile.packets=N` sends N mutated packets to each
/// listener (10,000,000 for a night), `-Dseed=N` repeats a run.
class HostileClientsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long SEED = Long.getLong("seed", 1);
  private static final @Nullable Integer ASKED_FOR = Integer.getInteger("hostile.packets");
  private static final int MUTATED_PACKETS = ASKED_FOR == null ? 40_000 : ASKED_FOR;
  private static final int PACKETS_PER_SOCKET = 40;
  private static final String UPGRADE =
      """
      GET /mqtt HTTP/1.1
      Host: x
      Upgrade: websocket
      Connection: Upgrade
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
      Sec-WebSocket-Protocol: mqtt
      Sec-WebSocket-Version: 13

      """
          .replace("\n", "\r\n");

  private static TestNode node;
  private static TestGateway gateway;
  private static SSLContext trusting;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    var certificate = TestCertificate.make(directory);
    node =
        TestNode.start(
            "--cm.tls.certificate="
                + Files.writeString(directory.resolve("crt.pem"), certificate.certificatePem()),
            "--cm.tls.private-key="
                + Files.writeString(directory.resolve("key.pem"), certificate.keyPem()),
            "--cm.ws-port=0",
            "--cm.wss-port=0",
            "--cm.transport.write-stall=2s");
    gateway = new TestGateway(node, "gw-hostile");
    trusting = new TestCertificate.Witness().context();
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  @Test
  void mutated_packets_break_nothing_on_any_listener() throws Exception {
    System.out.println("seed=" + SEED);
    var random = new Random(SEED);
    for (var listener : List.of("mqtt", "ws", "gateway", "tls", "wss")) {
      // A handshake costs as much as the packets, so there are fewer of them unless a number was
      // asked for.
      long wanted = isTls(listener) && ASKED_FOR == null ? MUTATED_PACKETS / 4 : MUTATED_PACKETS;
      long sent = 0;
      while (sent < wanted) {
        sent += attack(listener, random);
      }
    }

    assertThat(counter("cm.transport.loop.errors")).isZero();
    assertThat(
            node.bean(MeterRegistry.class)
                .get("cm.transport.closed")
                .tag("cause", "error")
                .counter()
                .count())
        .isZero();
    Eventually.within(PATIENCE, () -> assertThat(unauthenticatedBytes()).isZero());
    servesAGoodDevice();
  }

  @Test
  void a_thousand_half_connects_are_bounded_and_gone_after_their_deadline() throws Exception {
    int before = node.bean(Transport.class).connections();
    var connect =
        new PacketEncoder()
            .encode(RawClient.connect(MqttVersion.V5, TestNode.newDevice()), MqttVersion.V5);
    var half = new ArrayList<Socket>();
    try {
      for (int socket = 0; socket < 1_000; socket++) {
        half.add(new Socket("127.0.0.1", node.port("mqtt")));
        half.getLast().getOutputStream().write(connect, 0, 1 + socket % (connect.length - 1));
      }
      assertThat(unauthenticatedBytes()).isLessThan(2 * 1024 * 1024);
      servesAGoodDevice();

      Eventually.within(
          PATIENCE,
          () ->
              assertThat(node.bean(Transport.class).connections()).isLessThanOrEqualTo(before + 1));
      // Connections of the last attack may still be closing, with their partial packets.
      Eventually.within(PATIENCE, () -> assertThat(unauthenticatedBytes()).isZero());
    } finally {
      for (var socket : half) {
        socket.close();
      }
    }
  }

  @Test
  void a_declared_length_of_268_megabytes_is_refused_by_its_header() throws Exception {
    for (var listener : List.of("mqtt", "gateway", "tls")) {
      try (var client = new RawClient(open(listener), MqttVersion.V5)) {
        client.send(new byte[] {0x10, -1, -1, -1, 0x7F});
        client.drainToEnd();
      }
    }
    for (var listener : List.of("ws", "wss")) {
      try (var client = new RawClient(open(listener), MqttVersion.V5)) {
        client.send(UPGRADE.getBytes(US_ASCII));
        client.send(new byte[] {(byte) 0x82, -1, 0, 0, 0, 0, 0x10, 0, 0, 0, 1, 2, 3, 4});
        client.drainToEnd();
      }
    }
    servesAGoodDevice();
  }

  @Test
  void a_device_that_never_acknowledges_gets_one_window_and_affects_no_other_device()
      throws Exception {
    var device = TestNode.newDevice();
    try (var mute = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      mute.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      mute.subscribe().expect(MqttPacket.SubAck.class);

      // Messages are in flight only after the inbox has been read.
      gateway.send(List.of(device), TestNode.newMessage(), "{\"n\":0}", Duration.ofSeconds(20));
      mute.expect(MqttPacket.Publish.class);

      var results = flood(gateway, device, 199, "{\"n\":1}", Duration.ofSeconds(20));

      assertThat(results).filteredOn(result -> result == Result.REFUSED).hasSize(200 - 16 - 128);
      servesAGoodDevice();
    }
  }

  @Test
  void a_device_that_does_not_read_is_parked_and_then_closed_while_others_go_on() throws Exception {
    var device = TestNode.newDevice();
    double closedBefore = slowReaders();
    var socket = new Socket();
    socket.setReceiveBufferSize(4 * 1024);
    socket.connect(new InetSocketAddress("127.0.0.1", node.port("mqtt")));
    try (var deaf = new RawClient(socket, MqttVersion.V5)) {
      deaf.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      deaf.send(
              new MqttPacket.Subscribe(
                  1,
                  List.of(new SubscriptionRequest("push/messages", QoS.AT_MOST_ONCE)),
                  MqttProperties.NONE))
          .expect(MqttPacket.SubAck.class);

      var results = flood(gateway, device, 150, "x".repeat(60_000), Duration.ofSeconds(20));

      assertThat(results)
          .as("what the kernel did not take is parked, not kept")
          .anyMatch(result -> result != Result.DELIVERED);
      servesAGoodDevice();
      Eventually.within(PATIENCE, () -> assertThat(slowReaders()).isEqualTo(closedBefore + 1));
    }
  }

  /// The results that came back at once; messages that are in flight or wait have none yet.
  private static List<Result> flood(
      TestGateway from, DeviceKey device, int messages, String payload, Duration patience)
      throws Exception {
    var queues = new ArrayList<BlockingQueue<Outcome>>();
    for (int message = 0; message < messages; message++) {
      queues.add(from.send(List.of(device), TestNode.newMessage(), payload, patience));
    }
    // The last one is refused as soon as the room is full, and frames are read in order.
    var last = queues.getLast().poll(60, TimeUnit.SECONDS);
    assertThat(last).isNotNull();
    var results = new ArrayList<Result>();
    for (var queue : queues.subList(0, messages - 1)) {
      var outcome = queue.poll();
      if (outcome != null) {
        results.add(outcome.result());
      }
    }
    results.add(last.result());
    return results;
  }

  private static void servesAGoodDevice() throws Exception {
    var device = TestNode.newDevice();
    try (var client = new RawClient(node.port("mqtt"), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, device)).expect(MqttPacket.ConnAck.class);
      client.subscribe().expect(MqttPacket.SubAck.class);
      var queue = gateway.send(List.of(device), TestNode.newMessage(), "{}", PATIENCE);
      var publish = client.expect(MqttPacket.Publish.class);
      client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
      var outcome = queue.poll(60, TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
  }

  /// Sends packets on one socket until the server closes it. Returns how many were sent.
  private static int attack(String listener, Random random) throws IOException {
    var version = random.nextBoolean() ? MqttVersion.V5 : MqttVersion.V3_1_1;
    boolean webSocket = listener.startsWith("ws");
    var stream = new ByteArrayOutputStream();
    if (webSocket) {
      stream.writeBytes(UPGRADE.getBytes(US_ASCII));
    }
    // Half of them authenticate, so that the code behind CONNECT is attacked, too.
    boolean known = random.nextBoolean();
    if (known) {
      stream.writeBytes(framed(connect(listener, version), webSocket, random));
    }
    for (int packet = 0; packet < PACKETS_PER_SOCKET; packet++) {
      var bytes =
          packet(listener, version, known ? random.nextInt(1, 9) : random.nextInt(9), random);
      boolean frameItself = webSocket && random.nextInt(4) == 0;
      if (!frameItself) {
        bytes = mutated(bytes, random);
      }
      bytes = framed(bytes, webSocket, random);
      stream.writeBytes(frameItself ? mutated(bytes, random) : bytes);
    }
    try (var socket = open(listener)) {
      socket.setSoTimeout(5);
      socket.getOutputStream().write(stream.toByteArray());
      while (socket.getInputStream().read(new byte[4_096]) > 0) {}
    } catch (IOException closedOrSilent) {
      return PACKETS_PER_SOCKET;
    }
    return PACKETS_PER_SOCKET;
  }

  /// Opens a socket, over TLS with a handshake, resumed where there was one before.
  private static Socket open(String listener) throws IOException {
    if (!isTls(listener)) {
      return new Socket("127.0.0.1", node.port(listener));
    }
    var socket =
        (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", node.port(listener));
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.startHandshake();
    return socket;
  }

  private static boolean isTls(String listener) {
    return listener.equals("tls") || listener.equals("wss");
  }

  private static byte[] connect(String listener, MqttVersion version) {
    return new PacketEncoder()
        .encode(
            listener.equals("gateway")
                ? new MqttPacket.Connect(
                    version,
                    true,
                    60,
                    "gw-" + System.nanoTime(),
                    "gateway",
                    Binary.of(TestNode.GATEWAY_PASSWORD),
                    null,
                    MqttProperties.NONE)
                : RawClient.connect(version, TestNode.newDevice()),
            version);
  }

  private static byte[] packet(String listener, MqttVersion version, int kind, Random random) {
    return kind == 0
        ? connect(listener, version)
        : new PacketEncoder()
            .encode(
                switch (kind) {
                  case 1 ->
                      new MqttPacket.Subscribe(
                          1 + random.nextInt(100),
                          List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
                          MqttProperties.NONE);
                  case 2 ->
                      new MqttPacket.Unsubscribe(9, List.of("push/messages"), MqttProperties.NONE);
                  case 3, 4 -> publish("push/receipts", "{\"id\":\"x\",\"event\":\"opened\"}");
                  case 5 ->
                      publish("gw/deliver", "{\"frame\":\"f\",\"letters\":[],\"targets\":[]}");
                  case 6 -> new MqttPacket.PubAck(1 + random.nextInt(100), ReasonCode.SUCCESS);
                  case 7 -> new MqttPacket.PubRel(3, ReasonCode.SUCCESS, MqttProperties.NONE);
                  default -> new MqttPacket.PingReq();
                },
                version);
  }

  private static MqttPacket publish(String topic, String payload) {
    return new MqttPacket.Publish(
        topic, Binary.of(payload), QoS.AT_LEAST_ONCE, false, false, 7, MqttProperties.NONE);
  }

  private static byte[] mutated(byte[] good, Random random) {
    var bytes = good.clone();
    switch (random.nextInt(5)) {
      case 0 -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      case 2 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length) + 1);
      case 3 -> {
        var more = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(20));
        bytes = more;
      }
      default -> {
        for (int count = 0; count < 4; count++) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
      }
    }
    return bytes;
  }

  private static byte[] framed(byte[] payload, boolean webSocket, Random random) {
    if (!webSocket) {
      return payload;
    }
    var frame = new ByteArrayOutputStream();
    frame.write(0x82);
    if (payload.length < 126) {
      frame.write(0x80 | payload.length);
    } else {
      frame.write(0x80 | 126);
      frame.write(payload.length >> 8);
      frame.write(payload.length);
    }
    var mask = new byte[4];
    random.nextBytes(mask);
    frame.writeBytes(mask);
    for (int index = 0; index < payload.length; index++) {
      frame.write(payload[index] ^ mask[index & 3]);
    }
    return frame.toByteArray();
  }

  private static long unauthenticatedBytes() {
    return node.bean(Transport.class).unauthenticatedBytes();
  }

  private static double slowReaders() {
    return node.bean(MeterRegistry.class)
        .get("cm.transport.closed")
        .tag("cause", "slow_reader")
        .counter()
        .count();
  }

  private static double counter(String name) {
    return node.bean(MeterRegistry.class).get(name).counter().count();
  }
}
