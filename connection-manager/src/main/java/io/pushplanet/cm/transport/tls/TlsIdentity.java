package io.pushplanet.cm.transport.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/// The server's certificate and key. Speaks TLS 1.3 only. Thread-safe.
public final class TlsIdentity {
  /// The most plain text in one TLS record (https://www.rfc-editor.org/rfc/rfc8446#section-5.1).
  public static final int MOST_PLAIN_BYTES = 16 * 1024;

  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

  private final SSLContext context;

  private TlsIdentity(SSLContext context) {
    this.context = context;
  }

  /// @param certificate PEM, the server's own first, then its chain
  /// @param privateKey PEM, PKCS #8 without a password
  /// @throws IllegalArgumentException when they cannot be used, saying why: a broken TLS setting stops the start
  public static TlsIdentity fromPem(Path certificate, Path privateKey) {
    try {
      var chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(certificate)))
              .toArray(new Certificate[0]);
      if (chain.length == 0) {
        throw new IllegalArgumentException(
            "cm.tls.certificate holds no certificate: " + certificate);
      }
      var store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry("server", key(privateKey), new char[0], chain);
      var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, new char[0]);
      var context = SSLContext.getInstance("TLSv1.3");
      context.init(keys.getKeyManagers(), null, null);
      return new TlsIdentity(context);
    } catch (IOException | GeneralSecurityException unusable) {
      throw new IllegalArgumentException(
          "cm.tls.certificate and cm.tls.private-key must be PEM files that belong together: "
              + unusable.getMessage(),
          unusable);
    }
  }

  /// A new engine for one connection.
  public SSLEngine serverEngine() {
    var engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.setEnabledProtocols(new String[] {"TLSv1.3"});
    return engine;
  }

  private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
    var text = Files.readString(file, StandardCharsets.US_ASCII);
    int begin = text.indexOf("-----BEGIN PRIVATE KEY-----");
    int end = text.indexOf("-----END PRIVATE KEY-----");
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException(
          "cm.tls.private-key must be PKCS #8 (BEGIN PRIVATE KEY); convert it with:"
              + " openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW");
    }
    var spec =
        new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text.substring(begin + 27, end)));
    for (var algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException other) {
        continue;
      }
    }
    throw new IllegalArgumentException("cm.tls.private-key is none of " + ALGORITHMS);
  }
}
