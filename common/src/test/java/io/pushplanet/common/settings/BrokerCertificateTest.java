package io.pushplanet.common.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import io.pushplanet.common.access.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerCertificateTest {
  private static final String PASSWORD = "changeit";

  @TempDir private Path directory;

  @Test
  void a_broker_whose_certificate_nobody_vouches_for_is_refused() throws Exception {
    try (SSLServerSocket broker = broker()) {
      Thread.ofVirtual().start(() -> shakeHands(broker));
      ConnectionFactory connections =
          factory("amqps://guest:guest@127.0.0.1:" + broker.getLocalPort());

      assertThatThrownBy(connections::newConnection).isInstanceOf(SSLHandshakeException.class);
    }
  }

  @Test
  void without_tls_nothing_is_checked() throws Exception {
    assertThat(factory("amqp://guest:guest@127.0.0.1:5672").isSSL()).isFalse();
    assertThat(factory("amqps://guest:guest@127.0.0.1").isSSL()).isTrue();
  }

  private static ConnectionFactory factory(String uri) {
    return new PlatformConfiguration()
        .amqpConnectionFactory(
            new PlatformSettings(
                new PlatformSettings.Mysql(
                    "jdbc:mysql://127.0.0.1/p", "p", new Secret(""), 1, Duration.ofSeconds(2)),
                new PlatformSettings.Redis(new Secret("redis://127.0.0.1")),
                new PlatformSettings.Amqp(new Secret(uri)),
                new Secret(""),
                List.of()));
  }

  private static void shakeHands(SSLServerSocket broker) {
    try (SSLSocket accepted = (SSLSocket) broker.accept()) {
      accepted.startHandshake();
    } catch (IOException refused) {
      // As it should be; the other side tells.
    }
  }

  /// With a certificate for 127.0.0.1 that it has signed itself.
  private SSLServerSocket broker() throws Exception {
    Path file = directory.resolve("broker.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "broker",
                "-keyalg",
                "EC",
                "-dname",
                "CN=broker",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                file.toString())
            .inheritIO()
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD.toCharArray());
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(keys.getKeyManagers(), null, null);
    return (SSLServerSocket)
        tls.getServerSocketFactory().createServerSocket(0, 1, InetAddress.getLoopbackAddress());
  }
}
