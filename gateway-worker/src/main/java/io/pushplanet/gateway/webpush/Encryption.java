package io.pushplanet.gateway.webpush;

import com.google.crypto.tink.subtle.EllipticCurves;
import com.google.crypto.tink.subtle.EllipticCurves.CurveType;
import com.google.crypto.tink.subtle.EllipticCurves.PointFormatType;
import io.pushplanet.common.message.target.WebPushSubscription;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Encrypts for one browser (RFC 8291) as a single record of `aes128gcm` (RFC 8188): ECDH on P-256
/// by Tink, HKDF and AES-GCM by the JDK. Each message has an ephemeral key and a salt of its own.
/// Thread-safe.
final class Encryption {
  /// "push services … are not required to support more than 4096 octets"
  /// (https://www.rfc-editor.org/rfc/rfc8291#section-4).
  static final int LARGEST_BODY_BYTES = 4_096;

  private static final int SALT_BYTES = 16;
  private static final int POINT_BYTES = 65;
  private static final int KEY_BYTES = 16;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BYTES = 16;
  private static final int IKM_BYTES = 32;
  private static final int HEADER_BYTES = SALT_BYTES + Integer.BYTES + 1 + POINT_BYTES;
  private static final byte LAST_RECORD = 2;

  private static final byte[] KEY_INFO = ascii("WebPush: info\0");
  private static final byte[] CONTENT_KEY_INFO = ascii("Content-Encoding: aes128gcm\0");
  private static final byte[] NONCE_INFO = ascii("Content-Encoding: nonce\0");

  private final SecureRandom random;

  Encryption(SecureRandom random) {
    this.random = random;
  }

  /// @param message at most [WebPushSubscription#LARGEST_MESSAGE_BYTES]
  byte[] seal(byte[] message, BrowserSubscription browser) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    try {
      return seal(message, browser, EllipticCurves.generateKeyPair(CurveType.NIST_P256), salt);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK cannot encrypt for a browser", e);
    }
  }

  static byte[] seal(byte[] message, BrowserSubscription browser, KeyPair ephemeral, byte[] salt)
      throws GeneralSecurityException {
    if (message.length > WebPushSubscription.LARGEST_MESSAGE_BYTES) {
      throw new IllegalArgumentException("a message of " + message.length + " bytes");
    }
    byte[] point =
        EllipticCurves.pointEncode(
            CurveType.NIST_P256,
            PointFormatType.UNCOMPRESSED,
            ((ECPublicKey) ephemeral.getPublic()).getW());
    byte[] secret =
        EllipticCurves.computeSharedSecret((ECPrivateKey) ephemeral.getPrivate(), browser.key());
    byte[] ikm =
        derived(browser.auth(), secret, joined(KEY_INFO, browser.point(), point), IKM_BYTES);
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(
        Cipher.ENCRYPT_MODE,
        new SecretKeySpec(derived(salt, ikm, CONTENT_KEY_INFO, KEY_BYTES), "AES"),
        new GCMParameterSpec(TAG_BYTES * Byte.SIZE, derived(salt, ikm, NONCE_INFO, NONCE_BYTES)));
    ByteBuffer body = ByteBuffer.allocate(HEADER_BYTES + message.length + 1 + TAG_BYTES);
    body.put(salt).putInt(LARGEST_BODY_BYTES).put((byte) POINT_BYTES).put(point);
    cipher.update(ByteBuffer.wrap(message), body);
    cipher.doFinal(ByteBuffer.wrap(new byte[] {LAST_RECORD}), body);
    return body.array();
  }

  /// HKDF with SHA-256 (RFC 5869).
  private static byte[] derived(byte[] salt, byte[] secret, byte[] info, int length)
      throws GeneralSecurityException {
    return KDF.getInstance("HKDF-SHA256")
        .deriveData(
            HKDFParameterSpec.ofExtract().addSalt(salt).addIKM(secret).thenExpand(info, length));
  }

  private static byte[] joined(byte[]... parts) {
    ByteBuffer all = ByteBuffer.allocate(Arrays.stream(parts).mapToInt(it -> it.length).sum());
    for (byte[] part : parts) {
      all.put(part);
    }
    return all.array();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
