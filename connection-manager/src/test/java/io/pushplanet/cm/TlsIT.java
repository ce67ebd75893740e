package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The TLS listener, tried with the JDK's own client and a certificate made for the test by keytool.
class TlsIT {
  private static TestNode node;
  private static SSLContext trusting;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    var keystore = directory.resolve("server.p12");
    var keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                keystore.toString())
            .inheritIO()
            .start();
    assertThat(keytool.waitFor(30, TimeUnit.SECONDS)).isTrue();
    var store = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keystore)) {
      store.load(file, "changeit".toCharArray());
    }
    var certificate = store.getCertificate("server");
    var certificateFile = directory.resolve("server.crt");
    var keyFile = directory.resolve("server.key");
    Files.writeString(certificateFile, pem("CERTIFICATE", certificate.getEncoded()));
    Files.writeString(
        keyFile, pem("PRIVATE KEY", store.getKey("server", "changeit".toCharArray()).getEncoded()));
    node =
        TestNode.start(
            "--cm.tls.certificate=" + certificateFile, "--cm.tls.private-key=" + keyFile);
    var trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", certificate);
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    trusting = SSLContext.getInstance("TLS");
    trusting.init(null, trust.getTrustManagers(), null);
  }

  @AfterAll
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
            gateway.send(List.of(device), TestNode.newMessage(), payload, Duration.ofSeconds(10));

        var publish = client.expect(MqttPacket.Publish.class);

        assertThat(publish.payload()).isEqualTo(Binary.of(payload));
        client.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));
        var outcome = queue.poll(10, TimeUnit.SECONDS);
        assertThat(outcome).isNotNull();
        assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
      }
    }
  }

  @Test
  void a_hundred_devices_shake_hands_at_once() throws Exception {
    try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
      var connects = new ArrayList<Future<Integer>>();
      for (int count = 0; count < 100; count++) {
        connects.add(
            workers.submit(() -> {
              try (var socket = trusting.getSocketFactory().createSocket("127.0.0.1", port())) {
                var client = new RawClient(socket, MqttVersion.V3_1_1);
                client.send(RawClient.connect(MqttVersion.V3_1_1, TestNode.newDevice()));
                return client.expect(MqttPacket.ConnAck.class).code();
              }
            }));
      }
      for (var connect : connects) {
        assertThat(connect.get(30, TimeUnit.SECONDS)).isZero();
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

  /// A TLS alert may come before the end.
  private static void closed(RawClient client) throws Exception {
    client.drainToEnd();
  }

  private static int port() {
    return node.port("tls");
  }

  private static String pem(String kind, byte[] bytes) {
    return "-----BEGIN "
        + kind
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes)
        + "\n-----END "
        + kind
        + "-----\n";
  }
}
