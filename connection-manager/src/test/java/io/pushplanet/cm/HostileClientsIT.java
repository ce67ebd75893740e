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
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
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
/// listener (10,000,000 for a night). Each run prints its seed; `-Dseed=N` repeats the mutations.
class HostileClientsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long SEED = Long.getLong("seed", System.nanoTime());
  private static final @Nullable Integer ASKED_FOR = Integer.getInteger("hostile.packets");
  private static final int MUTATED_PACKETS = ASKED_FOR == null ? 40_000 : ASKED_FOR;

  /// The node reads on while the packets are good or refused without a close.
  private static final int PACKETS_OF_THE_KNOWN = 40;

  /// A stranger's first packet is usually the last one that the node reads.
  private static final int PACKETS_OF_STRANGERS = 4;

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
  private static int connects = 10_000_000;

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
            "--cm.transport.write-stall=2s",
            // A claim waits for others; here they come one by one.
            "--cm.directory.together=1ms");
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
    System.out.println("hostile: seed=" + SEED + " (again with -Dseed=" + SEED + ")");
    var random = new Random(SEED);
    for (var listener : List.of("mqtt", "ws", "gateway", "tls", "wss")) {
      // A handshake costs as much as the packets, so there are fewer of them unless a number was
      // asked for.
      long wanted = isTls(listener) && ASKED_FOR == null ? MUTATED_PACKETS / 4 : MUTATED_PACKETS;
      double readBefore = bytesRead();
      var attack = new Attack(listener, random);
      while (attack.packets < wanted) {
        attack.again();
      }
      System.out.printf("hostile: %s node_read_bytes=%.0f%n", attack, bytesRead() - readBefore);

      // All of them were greeted, and the node has heard more than their CONNECT.
      assertThat(attack.known).isPositive();
      assertThat(attack.answeredLater).isPositive();
      assertThat(bytesRead() - readBefore).isGreaterThan(attack.knownConnectBytes);
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

  /// Mutated packets to one listener. Packets count when they were all written, and each socket is
  /// read until the node has ended it: because it has read the end, or because it has refused a
  /// packet.
  private static final class Attack {
    private final String listener;
    private final boolean webSocket;
    private final Random random;
    private long packets;
    private long packetBytes;
    private long sockets;
    // The node closed them while packets were still being written.
    private long cutOff;
    private long known;
    private long knownConnectBytes;
    // Sockets on which more than the answer to CONNECT came.
    private long answeredLater;

    Attack(String listener, Random random) {
      this.listener = listener;
      this.webSocket = listener.startsWith("ws");
      this.random = random;
    }

    /// Half of the clients authenticate, so that the code behind CONNECT is attacked, too.
    void again() throws IOException {
      var version = random.nextBoolean() ? MqttVersion.V5 : MqttVersion.V3_1_1;
      boolean greets = random.nextBoolean();
      int count = greets ? PACKETS_OF_THE_KNOWN : PACKETS_OF_STRANGERS;
      byte[] hello = greets ? framed(connect(listener, version), webSocket, random) : new byte[0];
      var mutated = packets(version, greets, count);
      sockets++;
      try (var socket = open(listener)) {
        socket.setSoTimeout((int) PATIENCE.toMillis());
        var out = socket.getOutputStream();
        var in = new DataInputStream(socket.getInputStream());
        if (webSocket) {
          out.write(UPGRADE.getBytes(US_ASCII));
          passHeader(in);
        }
        if (greets) {
          out.write(hello);
          expectWelcome(in);
          known++;
          knownConnectBytes += hello.length;
        }
        if (isWritten(socket, mutated)) {
          packets += count;
          packetBytes += mutated.length;
        } else {
          cutOff++;
        }
        if (isAnsweredUntilTheEnd(in)) {
          answeredLater++;
        }
      }
    }

    private byte[] packets(MqttVersion version, boolean greets, int count) {
      var stream = new ByteArrayOutputStream();
      for (int packet = 0; packet < count; packet++) {
        int kind = greets ? random.nextInt(1, 9) : random.nextInt(9);
        var bytes = packet(listener, version, kind, random);
        boolean frameItself = webSocket && random.nextInt(4) == 0;
        if (!frameItself) {
          bytes = mutated(bytes, random);
        }
        bytes = framed(bytes, webSocket, random);
        stream.writeBytes(frameItself ? mutated(bytes, random) : bytes);
      }
      return stream.toByteArray();
    }

    /// Writes, and ends the stream.
    private static boolean isWritten(Socket socket, byte[] bytes) {
      try {
        socket.getOutputStream().write(bytes);
        socket.shutdownOutput();
        return true;
      } catch (IOException closed) {
        return false;
      }
    }

    /// @return whether the node sent bytes before it closed
    private static boolean isAnsweredUntilTheEnd(InputStream in) {
      var answer = new byte[4_096];
      boolean answered = false;
      try {
        while (in.read(answer) > 0) {
          answered = true;
        }
      } catch (SocketTimeoutException silent) {
        throw new AssertionError("the node neither answers nor closes", silent);
      } catch (IOException reset) {
        // The node has closed.
      }
      return answered;
    }

    private static void passHeader(DataInputStream in) throws IOException {
      int end = 0;
      for (int last = 0; end < 2; last = end) {
        int next = in.readUnsignedByte();
        end = next == '\n' ? last + 1 : next == '\r' ? last : 0;
      }
    }

    private void expectWelcome(DataInputStream in) throws IOException {
      if (webSocket) {
        assertThat(in.readUnsignedByte()).as("a binary frame").isEqualTo(0x82);
        in.readUnsignedByte();
      }
      assertThat(in.readUnsignedByte()).as("CONNACK").isEqualTo(0x20);
      var rest = new byte[in.readUnsignedByte()];
      in.readFully(rest);
      assertThat(rest[1]).as("its code").isZero();
    }

    @Override
    public String toString() {
      return "listener=%s packets=%d bytes=%d sockets=%d known=%d cut_off=%d answered_later=%d"
          .formatted(listener, packets, packetBytes, sockets, known, cutOff, answeredLater);
    }
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

  /// The ids are the same in each run of a seed.
  private static byte[] connect(String listener, MqttVersion version) {
    int number = connects++;
    return new PacketEncoder()
        .encode(
            listener.equals("gateway")
                ? new MqttPacket.Connect(
                    version,
                    true,
                    60,
                    "gw-" + number,
                    "gateway",
                    Binary.of(TestNode.GATEWAY_PASSWORD),
                    null,
                    MqttProperties.NONE)
                : RawClient.connect(
                    version, new DeviceKey(TestNode.APP, new DeviceId("hostile-" + number))),
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

  private static double bytesRead() {
    return node.bean(MeterRegistry.class)
        .get("cm.transport.bytes")
        .tag("direction", "read")
        .counter()
        .count();
  }

  private static double counter(String name) {
    return node.bean(MeterRegistry.class).get(name).counter().count();
  }
}
