package io.pushplanet.simulators.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/// The certificate authority of the simulators' servers and client certificates. It is kept in a
/// directory, so that a client that trusts `ca.pem` there still trusts it after a restart. For
/// tests and trials only.
///
/// Thread-safe.
public final class Authority {
  private static final String COMMON_NAME = "2.5.4.3";

  /// Apple writes the bundle id of a push certificate here.
  private static final String USER_ID = "0.9.2342.19200300.100.1.1";

  private static final byte[] ECDSA_WITH_SHA256 = Der.sequence(Der.oid("1.2.840.10045.4.3.2"));
  private static final byte[] CA_NAME = name(COMMON_NAME, "Push Planet simulators' authority");
  private static final Duration VALIDITY = Duration.ofDays(825);

  private final X509Certificate certificate;
  private final PrivateKey key;
  private final Path pem;
  private final Clock clock;

  private Authority(X509Certificate certificate, PrivateKey key, Path pem, Clock clock) {
    this.certificate = certificate;
    this.key = key;
    this.pem = pem;
    this.clock = clock;
  }

  /// A key and the certificate for it.
  public record Identity(X509Certificate certificate, PrivateKey key) {}

  /// Opens the authority kept in `directory`, or makes one there.
  public static Authority in(Path directory, Clock clock) {
    Path pem = directory.resolve("ca.pem");
    Path keyFile = directory.resolve("ca.key");
    try {
      Files.createDirectories(directory);
      if (Files.exists(pem) && Files.exists(keyFile)) {
        PrivateKey key =
            KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Files.readAllBytes(keyFile)));
        return new Authority(parse(Files.readAllBytes(pem)), key, pem, clock);
      }
      KeyPair pair = newKeyPair();
      byte[] extensions =
          Der.sequence(
              extension("2.5.29.19", true, Der.sequence(Der.yes())),
              extension("2.5.29.15", true, Der.tagged(0x03, new byte[] {1, 0x06})));
      X509Certificate certificate =
          issue(CA_NAME, pair.getPublic(), extensions, pair.getPrivate(), clock.instant());
      Files.write(keyFile, pair.getPrivate().getEncoded());
      Files.writeString(pem, toPem(certificate));
      return new Authority(certificate, pair.getPrivate(), pem, clock);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot keep the simulators' authority in " + directory, e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("The authority in " + directory + " is unusable", e);
    }
  }

  /// The PEM file to trust.
  public Path pem() {
    return pem;
  }

  /// The authority's own certificate.
  public X509Certificate certificate() {
    return certificate;
  }

  /// A fresh server identity for this machine: `localhost`, the loopback addresses and the host's
  /// name.
  public Identity server() {
    return server(ServerFace.TRUSTED);
  }

  /// A fresh server identity, good or not.
  public Identity server(ServerFace face) {
    Instant now = clock.instant();
    return switch (face) {
      case TRUSTED -> server(key, now);
      case EXPIRED -> server(key, now.minus(VALIDITY).minus(Duration.ofDays(2)));
      case ELSEWHERE ->
          signed(
              name(COMMON_NAME, "elsewhere.example"),
              alternativeNames(
                  Der.tagged(0x82, "elsewhere.example".getBytes(StandardCharsets.US_ASCII))),
              key,
              now);
      case STRANGER -> server(newKeyPair().getPrivate(), now);
    };
  }

  private static Identity server(PrivateKey signer, Instant now) {
    List<byte[]> names = new ArrayList<>();
    for (String host : List.of("localhost", "simulators", hostName())) {
      names.add(Der.tagged(0x82, host.getBytes(StandardCharsets.US_ASCII)));
    }
    names.add(Der.tagged(0x87, new byte[] {127, 0, 0, 1}));
    names.add(Der.tagged(0x87, new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
    return signed(
        name(COMMON_NAME, "localhost"),
        alternativeNames(names.toArray(byte[][]::new)),
        signer,
        now);
  }

  private static byte[] alternativeNames(byte[]... names) {
    return Der.sequence(extension("2.5.29.17", false, Der.sequence(names)));
  }

  /// A push certificate for one bundle id, as a PKCS #12 file.
  public byte[] pushCertificate(String bundleId, String password) {
    Identity identity =
        signed(
            Der.sequence(
                attribute(USER_ID, bundleId),
                attribute(COMMON_NAME, "Apple Push Services: " + bundleId)),
            Der.sequence(),
            key,
            clock.instant());
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      store.setKeyEntry(
          "push",
          identity.key(),
          password.toCharArray(),
          new X509Certificate[] {identity.certificate(), certificate});
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      store.store(out, password.toCharArray());
      return out.toByteArray();
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("Cannot write the push certificate", e);
    }
  }

  private static Identity signed(
      byte[] subject, byte[] extensions, PrivateKey signer, Instant now) {
    KeyPair pair = newKeyPair();
    return new Identity(
        issue(subject, pair.getPublic(), extensions, signer, now), pair.getPrivate());
  }

  private static X509Certificate issue(
      byte[] subject, PublicKey subjectKey, byte[] extensions, PrivateKey signer, Instant now) {
    boolean none = extensions.length == 2;
    byte[] body =
        Der.sequence(
            Der.tagged(0xa0, Der.integer(BigInteger.TWO)),
            Der.integer(new BigInteger(120, new SecureRandom()).setBit(100)),
            ECDSA_WITH_SHA256,
            CA_NAME,
            Der.sequence(Der.time(now.minus(Duration.ofDays(1))), Der.time(now.plus(VALIDITY))),
            subject,
            subjectKey.getEncoded(),
            none ? new byte[0] : Der.tagged(0xa3, extensions));
    try {
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(signer);
      signature.update(body);
      return parse(Der.sequence(body, ECDSA_WITH_SHA256, Der.bits(signature.sign())));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Cannot sign a certificate", e);
    }
  }

  private static byte[] extension(String oid, boolean critical, byte[] value) {
    return critical
        ? Der.sequence(Der.oid(oid), Der.yes(), Der.octets(value))
        : Der.sequence(Der.oid(oid), Der.octets(value));
  }

  private static byte[] name(String oid, String value) {
    return Der.sequence(attribute(oid, value));
  }

  private static byte[] attribute(String oid, String value) {
    return Der.set(Der.sequence(Der.oid(oid), Der.text(value)));
  }

  private static KeyPair newKeyPair() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no P-256", e);
    }
  }

  private static X509Certificate parse(byte[] encoded) throws GeneralSecurityException {
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(encoded));
  }

  private static String toPem(X509Certificate certificate) throws GeneralSecurityException {
    return Pem.of("CERTIFICATE", certificate.getEncoded());
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (IOException unnamed) {
      return "localhost";
    }
  }

  /// PEM armour (https://www.rfc-editor.org/rfc/rfc7468).
  public static final class Pem {
    private Pem() {}

    /// Armours DER.
    public static String of(String label, byte[] der) {
      String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
      return "-----BEGIN " + label + "-----\n" + base64 + "\n-----END " + label + "-----\n";
    }

    /// Removes the armour with any label.
    public static byte[] decode(String pem) {
      return Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z0-9 ]+-----", ""));
    }
  }
}
