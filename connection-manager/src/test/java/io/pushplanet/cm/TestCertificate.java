package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// A self-signed certificate for 127.0.0.1, made by keytool, and its key.
public record TestCertificate(X509Certificate certificate, byte[] key) {
  private static final String PASSWORD = "changeit";
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /// Valid today and tomorrow.
  public static TestCertificate make(Path directory) throws Exception {
    return make(directory, 0, 2);
  }

  /// A certificate that has been valid for `ageDays`, for `days` altogether: less than its age for
  /// an expired one.
  static TestCertificate make(Path directory, int ageDays, int days) throws Exception {
    var keystore = directory.resolve("made-" + NUMBER.incrementAndGet() + ".p12");
    var keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=ip:127.0.0.1",
                "-startdate",
                "-" + ageDays + "d",
                "-validity",
                Integer.toString(days),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                keystore.toString())
            .inheritIO()
            .start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    var store = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keystore)) {
      store.load(file, PASSWORD.toCharArray());
    }
    return new TestCertificate(
        (X509Certificate) store.getCertificate("server"),
        store.getKey("server", PASSWORD.toCharArray()).getEncoded());
  }

  public String certificatePem() throws Exception {
    return pem("CERTIFICATE", certificate.getEncoded());
  }

  public String keyPem() {
    return pem("PRIVATE KEY", key);
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

  /// Trusts every certificate and remembers the last one; not called when a session is resumed.
  public static final class Witness implements X509TrustManager {
    final AtomicInteger full = new AtomicInteger();
    volatile X509Certificate[] last = {};

    public SSLContext context() throws Exception {
      var context = SSLContext.getInstance("TLSv1.3");
      context.init(null, new TrustManager[] {this}, null);
      return context;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) {
      full.incrementAndGet();
      last = chain.clone();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) {
      throw new AssertionError("this is a client");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
