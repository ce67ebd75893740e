package io.pushplanet.cm.transport.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.List;

/// A certificate chain and its private key, read from two PEM files.
record PemPair(PrivateKey key, List<X509Certificate> chain) {
  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  PemPair {
    chain = List.copyOf(chain);
  }

  static PemPair read(Path certificate, Path privateKey)
      throws IOException, GeneralSecurityException {
    List<X509Certificate> chain;
    try (InputStream file = Files.newInputStream(certificate)) {
      chain =
          CertificateFactory.getInstance("X.509").generateCertificates(file).stream()
              .map(X509Certificate.class::cast)
              .toList();
    }
    if (chain.isEmpty()) {
      throw new IllegalArgumentException("cm.tls.certificate holds no certificate: " + certificate);
    }
    PrivateKey key = key(privateKey);
    if (!belongTogether(key, chain.getFirst().getPublicKey())) {
      throw new IllegalArgumentException(
          "cm.tls.private-key is not the key of the first certificate in cm.tls.certificate");
    }
    return new PemPair(key, chain);
  }

  Instant notAfter() {
    return chain.getFirst().getNotAfter().toInstant();
  }

  /// While two files are replaced one after the other, the new certificate is beside the old key
  /// for a moment.
  private static boolean belongTogether(PrivateKey key, PublicKey certified)
      throws GeneralSecurityException {
    if (!key.getAlgorithm().equals(certified.getAlgorithm())) {
      return false;
    }
    var signature =
        Signature.getInstance(
            switch (key.getAlgorithm()) {
              case "EC" -> "SHA256withECDSA";
              case "RSA" -> "SHA256withRSA";
              default -> "EdDSA";
            });
    byte[] sample = "sample".getBytes(StandardCharsets.US_ASCII);
    signature.initSign(key);
    signature.update(sample);
    byte[] signed = signature.sign();
    signature.initVerify(certified);
    signature.update(sample);
    return signature.verify(signed);
  }

  private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
    String text = Files.readString(file, StandardCharsets.US_ASCII);
    int begin = text.indexOf(BEGIN);
    int end = text.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException(
          "cm.tls.private-key must be PKCS #8 (BEGIN PRIVATE KEY); convert it with:"
              + " openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW");
    }
    var spec =
        new PKCS8EncodedKeySpec(
            Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end)));
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException other) {
        continue;
      }
    }
    throw new IllegalArgumentException("cm.tls.private-key is none of " + ALGORITHMS);
  }
}
