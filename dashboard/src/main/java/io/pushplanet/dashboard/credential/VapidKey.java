package io.pushplanet.dashboard.credential;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import com.google.crypto.tink.subtle.EllipticCurves.PointFormatType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Pattern;

/// The key pair by which push services know an app (https://www.rfc-editor.org/rfc/rfc8292). It is
/// made here, or uploaded as a PEM file or as the base64url text that web-push tools print. A page
/// subscribes with the public half.
final class VapidKey {
  private static final Pattern CONTACT = Pattern.compile("(mailto:)?[^@\\s]+@[^@\\s]+");
  private static final int LONGEST_CONTACT = 200;
  private static final int SCALAR_BYTES = 32;
  private static final byte[] COMPRESSED_SIGNS = {2, 3};
  private static final byte[] PROBE = {1};

  private VapidKey() {}

  static CheckedCredential generate(String contact) throws RefusedCredential {
    String subject = subject(contact);
    try {
      KeyPair pair = EllipticCurves.generateKeyPair(CurveType.NIST_P256);
      return credential(
          (ECPrivateKey) pair.getPrivate(), ((ECPublicKey) pair.getPublic()).getW(), subject);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK lacks P-256", e);
    }
  }

  static CheckedCredential check(byte[] file, String contact) throws RefusedCredential {
    String subject = subject(contact);
    ECPrivateKey key = privateKey(Pem.text(file));
    try {
      ECParameterSpec p256 = EllipticCurves.getCurveSpec(CurveType.NIST_P256);
      if (!key.getParams().getCurve().equals(p256.getCurve())) {
        throw new RefusedCredential("The key is on another curve than P-256, which VAPID needs.");
      }
      return credential(key, publicPoint(key, p256), subject);
    } catch (GeneralSecurityException e) {
      throw new RefusedCredential("The key is damaged: nothing can be signed with it.");
    }
  }

  private static String subject(String contact) throws RefusedCredential {
    if (contact.length() > LONGEST_CONTACT || !CONTACT.matcher(contact).matches()) {
      throw new RefusedCredential(
          "The contact is an e-mail address: a push service writes to it before it blocks you.");
    }
    return contact.startsWith("mailto:") ? contact : "mailto:" + contact;
  }

  private static ECPrivateKey privateKey(String text) throws RefusedCredential {
    if (text.startsWith("-----") || text.contains("\n")) {
      if (Pem.privateKey(text, "EC", "The key file") instanceof ECPrivateKey key) {
        return key;
      }
      throw new RefusedCredential("The key file holds no EC key.");
    }
    try {
      byte[] scalar = Base64.getUrlDecoder().decode(text);
      if (scalar.length == SCALAR_BYTES) {
        return EllipticCurves.getEcPrivateKey(CurveType.NIST_P256, scalar);
      }
    } catch (IllegalArgumentException | GeneralSecurityException e) {
      // refused below
    }
    throw new RefusedCredential(
        "This is neither a private key in PEM form nor 32 bytes in base64url, as web-push tools print it.");
  }

  /// Finds the public half of a private key. The key agreement with the base point gives its x. Of
  /// the two points with that x, the right one verifies a signature of the key.
  private static ECPoint publicPoint(ECPrivateKey key, ECParameterSpec p256)
      throws GeneralSecurityException {
    byte[] x = EllipticCurves.computeSharedSecret(key, p256.getGenerator());
    for (byte sign : COMPRESSED_SIGNS) {
      byte[] compressed = ByteBuffer.allocate(1 + x.length).put(sign).put(x).array();
      ECPublicKey candidate =
          EllipticCurves.getEcPublicKey(
              CurveType.NIST_P256, PointFormatType.COMPRESSED, compressed);
      if (fits(key, candidate)) {
        return candidate.getW();
      }
    }
    throw new GeneralSecurityException("no public key fits");
  }

  private static boolean fits(ECPrivateKey key, ECPublicKey candidate)
      throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(key);
    signature.update(PROBE);
    byte[] signed = signature.sign();
    signature.initVerify(candidate);
    signature.update(PROBE);
    return signature.verify(signed);
  }

  private static CheckedCredential credential(ECPrivateKey key, ECPoint point, String subject)
      throws GeneralSecurityException {
    byte[] encoded =
        EllipticCurves.pointEncode(CurveType.NIST_P256, PointFormatType.UNCOMPRESSED, point);
    var detail = new LinkedHashMap<String, String>();
    detail.put("public_key", Base64.getUrlEncoder().withoutPadding().encodeToString(encoded));
    detail.put("subject", subject);
    return new CheckedCredential(
        "webpush",
        List.of("production"),
        "vapid",
        detail,
        Pem.of(key).getBytes(StandardCharsets.US_ASCII),
        null);
  }
}
