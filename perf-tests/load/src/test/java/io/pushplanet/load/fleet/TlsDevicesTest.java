package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.load.mqtt.MqttVersion;
import io.pushplanet.quickstart.platform.TlsIdentity;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsDevicesTest {
  private static final byte[] WELCOME = {0x20, 2, 0, 0};
  private static final byte[] NOT_AUTHORIZED = {0x20, 2, 0, 5};
  private static final byte[] SUBSCRIBED = {(byte) 0x90, 3, 0, 1, 1};

  @TempDir private Path directory;

  private TlsIdentity identity;
  private SSLServerSocket server;

  @BeforeEach
  void listen() throws Exception {
    identity = TlsIdentity.in(directory);
    char[] password = "of the store".toCharArray();
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, password);
    store.setKeyEntry("server", privateKey(), password, new Certificate[] {certificate()});
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    context.init(keys.getKeyManagers(), null, null);
    server =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  private PrivateKey privateKey() throws Exception {
    String base64 = Files.readString(identity.privateKey()).replaceAll("-----.*-----", "");
    byte[] key = Base64.getMimeDecoder().decode(base64);
    return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key));
  }

  private Certificate certificate() throws Exception {
    try (InputStream pem = Files.newInputStream(identity.certificate())) {
      return CertificateFactory.getInstance("X.509").generateCertificate(pem);
    }
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void devices_log_in_and_subscribe_over_tls() {
    answer(WELCOME);

    try (TlsDevices devices = devices()) {
      devices.connect(IntStream.range(0, 9).mapToObj(TlsDevicesTest::device).toList(), settings());

      assertThat(devices.size()).isEqualTo(9);
    }
  }

  @Test
  void a_device_that_is_refused_ends_the_measurement() {
    answer(NOT_AUTHORIZED);

    try (TlsDevices devices = devices()) {
      assertThatThrownBy(() -> devices.connect(List.of(device(1)), settings()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("code 5");
    }
  }

  private TlsDevices devices() {
    return new TlsDevices(
        new InetSocketAddress(server.getInetAddress(), server.getLocalPort()),
        identity.certificate());
  }

  private static FleetSettings settings() {
    return FleetSettings.DEFAULT.forgetting();
  }

  private static Device device(int number) {
    return new Device(
        new AppId("bench"), new DeviceId("d" + number), new Secret("x"), MqttVersion.V3_1_1);
  }

  /// Answers every CONNECT with this code, and every SUBSCRIBE, until it is closed.
  private void answer(byte[] connect) {
    Thread.ofVirtual()
        .start(() -> {
          while (!server.isClosed()) {
            try {
              SSLSocket socket = (SSLSocket) server.accept();
              Thread.ofVirtual().start(() -> serve(socket, connect));
            } catch (IOException e) {
              return;
            }
          }
        });
  }

  private static void serve(SSLSocket socket, byte[] connect) {
    try (socket) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      for (byte[] answer : List.of(connect, SUBSCRIBED)) {
        in.readByte();
        in.readFully(new byte[in.readUnsignedByte()]);
        socket.getOutputStream().write(answer);
      }
      in.read();
    } catch (IOException e) {
      // The device has left.
    }
  }
}
