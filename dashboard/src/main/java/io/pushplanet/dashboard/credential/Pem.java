package io.pushplanet.dashboard.credential;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/// A private key in PKCS#8 and PEM (RFC 7468, section 10).
final class Pem {
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  private Pem() {}

  static String text(byte[] file) {
    return new String(file, StandardCharsets.UTF_8).strip();
  }

  /// @param algorithm `EC` or `RSA`
  /// @param what names the key in messages
  static PrivateKey privateKey(String pem, String algorithm, String what) throws RefusedCredential {
    int begin = pem.indexOf(BEGIN);
    int end = pem.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new RefusedCredential(objection(pem, what));
    }
    try {
      byte[] der = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new RefusedCredential(
          what
              + " is damaged or not an "
              + algorithm
              + " key. Download it again and upload it unchanged.");
    }
  }

  static String of(PrivateKey key) {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key.getEncoded());
    return BEGIN + "\n" + base64 + "\n" + END + "\n";
  }

  private static String objection(String pem, String what) {
    if (pem.contains("BEGIN EC PRIVATE KEY") || pem.contains("BEGIN RSA PRIVATE KEY")) {
      return what
          + " is in an older form. Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem -out key.p8";
    }
    if (pem.contains("BEGIN ENCRYPTED PRIVATE KEY")) {
      return what + " is protected by a password. Upload it as Apple or Google gave it to you.";
    }
    if (pem.contains("BEGIN CERTIFICATE")) {
      return what + " is a certificate, not a private key.";
    }
    return what + " is not a private key: the line \"" + BEGIN + "\" is missing.";
  }
}
