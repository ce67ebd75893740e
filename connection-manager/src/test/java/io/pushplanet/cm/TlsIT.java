package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.transport.Transport;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateExpiredException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/// The TLS listener with the JDK's own client and a certificate made by keytool; on the kernel's
/// own calls and on java.nio.
@ParameterizedClass
@EnumSource(
    value = Sockets.class,
    names = {"AUTO", "NIO"})
class TlsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static TestNode node;
  private static SSLContext trusting;
  private static Path certificateFile;
  private static Path keyFile;

  @Parameter Sockets kind;

  @BeforeParameterizedClassInvocation
  static void start(Sockets sockets, @TempDir Path directory) throws Exception {
    certificateFile = directory.resolve("server.crt");
    keyFile = directory.resolve("server.key");
    var first = TestCertificate.make(directory);
    Files.writeString(certificateFile, first.certificatePem());
    Files.writeString(keyFile, first.keyPem());
    node =
        TestNode.start(
            "--cm.tls.certificate=" + certificateFile,
            "--cm.tls.private-key=" + keyFile,
            "--cm.wss-port=0",
            "--cm.transport.sockets=" + sockets);
    trusting = new TestCertificate.Witness().context();
  }

  @AfterParameterizedClassInvocation
  static void stop() {
    node.close();
  }

  @Test
  void a_device_gets_its_messages_over_tls_1_3() throws Exception {
    var device = TestNode.newDevice();
    try (var gateway = new TestGateway(node, "gw-tls");
        var socket = (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", port())) {
      socket.startHandshake();
      assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.connect(MqttVersion.V5, device));
      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
      client.subscribe().expect(MqttPacket.SubAck.class);
      for (var payload : List.of("{}", "x".repeat(60_000), "{\"last\":true}")) {
        var queue =
            gateway.send(List.of(device), TestNode.newMessage(), payload, Duration.ofSeconds(60));

        var publish = client.expect(MqttPacket.Publish.class);

        assertThat(publish.payload()).isEqualTo(Binary.of(payload));
        client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        var outcome = queue.poll(60, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
      }
    }
  }

  @Test
  void emqx_5809_a_hundred_devices_that_shake_hands_at_once_all_come_in() throws Exception {
    try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
      var connects = new ArrayList<Future<@Nullable Void>>();
      for (int count = 0; count < 100; count++) {
        connects.add(
            workers.submit(() -> {
              // A slow machine does not get to some of them within five seconds: they connect
              // again, as devices do.
              Eventually.within(PATIENCE, TlsIT::comesIn);
              return null;
            }));
      }
      for (var connect : connects) {
        connect.get(90, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void rubbish_and_plain_mqtt_on_the_tls_listener_are_closed() throws Exception {
    var random = new Random(1);
    for (int round = 0; round < 20; round++) {
      var bytes = new byte[200];
      random.nextBytes(bytes);
      try (var client = new RawClient(new Socket("127.0.0.1", port()), MqttVersion.V5)) {
        client.send(bytes);
        closed(client);
      }
    }
    try (var client = new RawClient(new Socket("127.0.0.1", port()), MqttVersion.V5)) {
      client.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
      closed(client);
    }
  }

  @Test
  void an_incomplete_tls_record_stops_no_other_connection() throws Exception {
    // They are closed after five seconds, which a slow machine may need for one handshake: then it
    // is tried again.
    Eventually.within(PATIENCE, TlsIT::comesInPastHalves);
    Eventually.within(
        PATIENCE, () -> assertThat(node.bean(Transport.class).unauthenticatedBytes()).isZero());
  }

  @Test
  void a_stranger_cut_off_over_one_record_is_not_charged_for_the_next_that_came_with_it()
      throws Exception {
    for (int stranger = 0; stranger < 20; stranger++) {
      var together = new Together(port());
      try (var socket =
          trusting.getSocketFactory().createSocket(together, "127.0.0.1", port(), true)) {
        ((SSLSocket) socket).startHandshake();
        together.hold();

        // Not MQTT: the second record's bytes are read in the turn that closes the connection.
        socket.getOutputStream().write(new byte[] {0, 0, 0, 0});
        socket.getOutputStream().write(new byte[3_000]);
        together.letGoAllBut(8);

        closed(new RawClient(socket, MqttVersion.V5));
      }
    }

    Eventually.within(
        PATIENCE, () -> assertThat(node.bean(Transport.class).unauthenticatedBytes()).isZero());
  }

  @Test
  void a_client_that_sends_connect_with_the_last_handshake_record_is_told_why_it_is_refused()
      throws Exception {
    var together = new Together(port());
    // Holds everything after the ClientHello.
    together.holdAfter(1);
    try (var socket =
        (SSLSocket) trusting.getSocketFactory().createSocket(together, "127.0.0.1", port(), true)) {
      socket.startHandshake();
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.withWrongPassword());

      together.letGoAllBut(0);

      assertThat(client.expect(MqttPacket.ConnAck.class).code())
          .isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD.code());
      assertThat(client.next()).isEmpty();
    }
  }

  @Test
  void packets_before_the_end_of_tls_are_handled_before_it() throws Exception {
    var device = TestNode.newDevice();
    var together = new Together(port());
    try (var socket =
        (SSLSocket) trusting.getSocketFactory().createSocket(together, "127.0.0.1", port(), true)) {
      socket.startHandshake();
      var client = new RawClient(socket, MqttVersion.V5);
      client.send(RawClient.withWill(RawClient.connect(MqttVersion.V5, device)));
      assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
      together.hold();
      // More than a device may have unconfirmed at the broker.
      var said = IntStream.range(0, 100).mapToObj(Integer::toString).toList();
      for (var one : said) {
        client.publish("push/uplink", one, QoS.AT_MOST_ONCE, false);
      }
      client.send(new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE));
      socket.shutdownOutput();

      together.letGoAllBut(0);

      client.drainToEnd();
      assertThat(node.uplinksOf(device, said.size())).containsExactlyInAnyOrderElementsOf(said);
    }
  }

  @Test
  void a_client_without_tls_1_3_is_told_why_it_is_refused() throws Exception {
    try (var socket = (SSLSocket) trusting.getSocketFactory().createSocket("127.0.0.1", port())) {
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});

      assertThatExceptionOfType(SSLHandshakeException.class)
          .isThrownBy(socket::startHandshake)
          .withMessageContaining("protocol_version");
    }
  }

  /// Sends in one piece all bytes that were written while it held them.
  private static final class Together extends Socket {
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private boolean holds;
    private int writesBefore;

    Together(int to) throws IOException {
      super("127.0.0.1", to);
    }

    void hold() {
      holdAfter(0);
    }

    void holdAfter(int writes) {
      writesBefore = writes;
      holds = true;
    }

    void letGoAllBut(int bytes) throws IOException {
      holds = false;
      super.getOutputStream().write(held.toByteArray(), 0, held.size() - bytes);
    }

    /// Only TLS itself reports its end.
    @Override
    public void shutdownOutput() {}

    @Override
    public OutputStream getOutputStream() throws IOException {
      var real = super.getOutputStream();
      return new OutputStream() {
        @Override
        public void write(int one) throws IOException {
          write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
          boolean kept = holds && writesBefore-- <= 0;
          (kept ? held : real).write(bytes, from, length);
        }
      };
    }
  }

  @Test
  void a_device_whose_records_come_byte_by_byte_is_served() throws Exception {
    try (var dribble = new Dribble(port());
        var socket = trusting.getSocketFactory().createSocket("127.0.0.1", dribble.port())) {
      var client = connect(socket);
      client.subscribe().expect(MqttPacket.SubAck.class);
      client.send(new MqttPacket.PingReq());
      client.expect(MqttPacket.PingResp.class);
    }
  }

  /// Passes on a client's bytes one by one, and the node's answers as they come.
  private static final class Dribble implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0);

    Dribble(int to) throws IOException {
      Thread.ofVirtual()
          .start(() -> {
            try (var client = listener.accept();
                var server = new Socket("127.0.0.1", to)) {
              server.setTcpNoDelay(true);
              Thread.ofVirtual()
                  .start(() -> {
                    try {
                      server.getInputStream().transferTo(client.getOutputStream());
                    } catch (IOException gone) {
                      // Its client has closed.
                    }
                  });
              for (int next = client.getInputStream().read();
                  next >= 0;
                  next = client.getInputStream().read()) {
                server.getOutputStream().write(next);
                server.getOutputStream().flush();
              }
            } catch (IOException gone) {
              // Its client has closed.
            }
          });
    }

    int port() {
      return listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }

  @Test
  void a_client_that_changes_its_keys_over_and_over_is_closed() throws Exception {
    var changer = ClientJvm.start(KeyChanger.class, port());
    try (var told = changer.inputReader(StandardCharsets.UTF_8)) {
      assertThat(Integer.parseInt(told.readLine()))
          .as("answers before it was closed")
          .isBetween(1, KeyChanger.MAX - 1);
    } finally {
      changer.destroyForcibly();
    }
  }

  @Test
  void a_client_that_comes_back_resumes_its_session_without_a_full_handshake() throws Exception {
    var witness = new TestCertificate.Witness();
    var context = witness.context();

    for (int connection = 0; connection < 3; connection++) {
      try (var socket = context.getSocketFactory().createSocket("127.0.0.1", port())) {
        connect(socket);
      }
    }

    assertThat(witness.full.get()).isEqualTo(1);
  }

  @Test
  void parse_server_push_adapter_65_a_broken_certificate_is_never_shown_and_a_new_one_at_once(
      @TempDir Path directory) throws Exception {
    var renewed = TestCertificate.make(directory);
    try (var device = trusting.getSocketFactory().createSocket("127.0.0.1", port())) {
      var client = connect(device);
      var before = shown();

      // The new certificate does not belong to the old key that is still there.
      Files.writeString(certificateFile, renewed.certificatePem());
      assertThat(shown()).isEqualTo(before);
      Files.writeString(keyFile, renewed.keyPem());

      Eventually.within(PATIENCE, () -> assertThat(shown()).isEqualTo(renewed.certificate()));
      client.send(new MqttPacket.PingReq());
      client.expect(MqttPacket.PingResp.class);

      Files.writeString(keyFile, "rubbish");
      assertThat(shown()).isEqualTo(renewed.certificate());
      Files.writeString(keyFile, renewed.keyPem());
    }
  }

  /// Clients judge a certificate, not its server: devices that pin it, or do not look at dates,
  /// still connect, and so do all without TLS.
  @Test
  void parse_server_push_adapter_65_an_expired_certificate_stops_no_listener_and_is_told(
      @TempDir Path directory) throws Exception {
    var expired = TestCertificate.make(directory, 10, 5);
    var certificate = Files.writeString(directory.resolve("crt"), expired.certificatePem());
    var key = Files.writeString(directory.resolve("key"), expired.keyPem());
    try (var old =
            TestNode.start(
                "--cm.tls.certificate=" + certificate,
                "--cm.tls.private-key=" + key,
                "--cm.transport.sockets=" + kind);
        var plain =
            RawClient.connected(
                old.port("mqtt"), RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
        var socket = trusting.getSocketFactory().createSocket("127.0.0.1", old.port("tls"))) {
      var overTls = connect(socket);
      var shown = shown(old.port("tls"));
      assertThat(shown).isEqualTo(expired.certificate());
      assertThatExceptionOfType(CertificateExpiredException.class).isThrownBy(shown::checkValidity);
      assertThat(expires(old)).isEqualTo(end(expired)).isBefore(Instant.now());

      var renewed = TestCertificate.make(directory);
      Files.writeString(certificate, renewed.certificatePem());
      Files.writeString(key, renewed.keyPem());

      Eventually.within(
          PATIENCE, () -> assertThat(shown(old.port("tls"))).isEqualTo(renewed.certificate()));
      assertThat(expires(old)).isEqualTo(end(renewed));
      SharedNode.silent(plain);
      SharedNode.silent(overTls);
    }
  }

  @Test
  void fleet_36673_the_alert_comes_days_before_the_certificate_ends_and_goes_with_the_renewed_one(
      @TempDir Path directory) throws Exception {
    var rule =
        Pattern.compile(
                "alert: MqttCertificateExpires\\s+"
                    + "expr: \\(cm_tls_certificate_expires - time\\(\\)\\) / 86400 < (\\d+)\\s")
            .matcher(Files.readString(Path.of("../docs/operations/alerts.yml")));
    assertThat(rule.find()).isTrue();
    int days = Integer.parseInt(rule.group(1));

    show(TestCertificate.make(directory, 0, days + 1));
    assertThat(Duration.between(Instant.now(), expires(node))).isGreaterThan(Duration.ofDays(days));

    show(TestCertificate.make(directory, 0, days - 1));
    assertThat(Duration.between(Instant.now(), expires(node))).isLessThan(Duration.ofDays(days));
  }

  /// Renews the node's certificate, and waits for it.
  private static void show(TestCertificate renewed) throws Exception {
    Files.writeString(certificateFile, renewed.certificatePem());
    Files.writeString(keyFile, renewed.keyPem());
    Eventually.within(PATIENCE, () -> assertThat(shown()).isEqualTo(renewed.certificate()));
  }

  private static Instant end(TestCertificate of) {
    return of.certificate().getNotAfter().toInstant();
  }

  /// The meter `cm_tls_certificate_expires`.
  private static Instant expires(TestNode at) {
    var gauge = at.bean(MeterRegistry.class).get("cm.tls.certificate.expires").gauge();
    return Instant.ofEpochSecond((long) gauge.value());
  }

  @Test
  void mqtt_over_websocket_comes_within_tls_too() throws Exception {
    var heard = new ArrayBlockingQueue<Integer>(10);
    try (var http = HttpClient.newBuilder().sslContext(trusting).build()) {
      var socket =
          http.newWebSocketBuilder()
              .subprotocols("mqtt")
              .buildAsync(
                  URI.create("wss://127.0.0.1:" + node.port("wss") + "/mqtt"),
                  new WebSocket.Listener() {
                    @Override
                    public @Nullable CompletionStage<?> onBinary(
                        WebSocket from, ByteBuffer data, boolean last) {
                      heard.add((int) data.get(data.position()));
                      return null;
                    }
                  })
              .get(20, TimeUnit.SECONDS);
      var connect = RawClient.connect(MqttVersion.V5, TestNode.newDevice());
      var bytes = new PacketEncoder().encode(connect, MqttVersion.V5);

      socket.sendBinary(ByteBuffer.wrap(bytes), true).get(20, TimeUnit.SECONDS);

      assertThat(heard.poll(20, TimeUnit.SECONDS)).as("CONNACK").isEqualTo(0x20);
      socket.abort();
    }
  }

  private static void comesInPastHalves() throws Exception {
    var halves = new ArrayList<Socket>();
    try {
      for (int socket = 0; socket < 8; socket++) {
        halves.add(new Socket("127.0.0.1", port()));
        // Announces a handshake record of 512 bytes.
        halves.getLast().getOutputStream().write(new byte[] {0x16, 3, 1, 2, 0, 1, 0});
      }
      comesIn();
      assertThat(node.bean(Transport.class).unauthenticatedBytes()).isPositive();
    } finally {
      for (var socket : halves) {
        socket.close();
      }
    }
  }

  private static void comesIn() throws Exception {
    try (var socket = trusting.getSocketFactory().createSocket("127.0.0.1", port())) {
      connect(socket);
    }
  }

  private static X509Certificate shown() throws Exception {
    return shown(port());
  }

  private static X509Certificate shown(int port) throws Exception {
    var witness = new TestCertificate.Witness();
    try (var socket = witness.context().getSocketFactory().createSocket("127.0.0.1", port)) {
      ((SSLSocket) socket).startHandshake();
    }
    return witness.last[0];
  }

  private static RawClient connect(Socket socket) throws Exception {
    var client = new RawClient(socket, MqttVersion.V5);
    client.send(RawClient.connect(MqttVersion.V5, TestNode.newDevice()));
    assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
    return client;
  }

  /// A TLS alert may precede the end.
  private static void closed(RawClient client) throws Exception {
    client.drainToEnd();
  }

  private static int port() {
    return node.port("tls");
  }
}
