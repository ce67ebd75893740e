package io.pushplanet.simulators.webpush;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.interfaces.ECPublicKey;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Decrypts a message as the browser does: `aes128gcm` (RFC 8188) with the keys of RFC 8291.
/// Written from the RFCs with only HMAC, ECDH and AES-GCM, so that it shares no mistake with a
/// sender.
final class Decryption {
  private static final int SALT_BYTES = 16;
  private static final int KEY_BYTES = 16;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BYTES = 16;
  private static final int LAST_RECORD = 2;

  /// RFC 8188, section 2.1: "Values smaller than 18 are invalid".
  private static final int SMALLEST_RECORD = 18;

  private Decryption() {}

  /// @throws GeneralSecurityException with the reason why it cannot be decrypted
  static byte[] open(Subscription subscription, byte[] body) throws GeneralSecurityException {
    if (body.length < SALT_BYTES + Integer.BYTES + 1 + P256.POINT_BYTES) {
      throw new GeneralSecurityException("the body is shorter than its header");
    }
    ByteBuffer rest = ByteBuffer.wrap(body);
    byte[] salt = taken(rest, SALT_BYTES);
    int recordSize = rest.getInt();
    int keyIdLength = rest.get() & 0xff;
    if (keyIdLength != P256.POINT_BYTES) {
      throw new GeneralSecurityException("keyid has " + keyIdLength + " bytes, not 65");
    }
    byte[] sender = taken(rest, keyIdLength);
    if (recordSize < SMALLEST_RECORD) {
      throw new GeneralSecurityException("the record size is " + recordSize);
    }
    // RFC 8291, section 4: a push message is one record.
    if (rest.remaining() > recordSize) {
      throw new GeneralSecurityException("more than one record");
    }
    byte[] record = taken(rest, rest.remaining());
    byte[][] keys = keys(subscription, sender, salt);
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(
        Cipher.DECRYPT_MODE,
        new SecretKeySpec(keys[0], "AES"),
        new GCMParameterSpec(TAG_BYTES * Byte.SIZE, keys[1]));
    return unpadded(cipher.doFinal(record));
  }

  private static byte[][] keys(Subscription subscription, byte[] sender, byte[] salt)
      throws GeneralSecurityException {
    Base64.Decoder base64 = Base64.getUrlDecoder();
    ECPublicKey senderKey = P256.decode(sender);
    byte[] secret =
        P256.agree(P256.privateKey(base64.decode(subscription.privateKey())), senderKey);
    byte[] keyInfo =
        joined(ascii("WebPush: info\0"), base64.decode(subscription.p256dh()), sender, one());
    byte[] ikm = hmac(hmac(base64.decode(subscription.auth()), secret), keyInfo);
    byte[] prk = hmac(salt, ikm);
    byte[] key = hmac(prk, joined(ascii("Content-Encoding: aes128gcm\0"), one()));
    byte[] nonce = hmac(prk, joined(ascii("Content-Encoding: nonce\0"), one()));
    return new byte[][] {Arrays.copyOf(key, KEY_BYTES), Arrays.copyOf(nonce, NONCE_BYTES)};
  }

  private static byte[] unpadded(byte[] padded) throws GeneralSecurityException {
    int end = padded.length - 1;
    while (end >= 0 && padded[end] == 0) {
      end--;
    }
    if (end < 0 || padded[end] != LAST_RECORD) {
      throw new GeneralSecurityException("the last record does not end with 0x02");
    }
    return Arrays.copyOf(padded, end);
  }

  private static byte[] hmac(byte[] key, byte[] message) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(message);
  }

  private static byte[] taken(ByteBuffer from, int length) {
    byte[] bytes = new byte[length];
    from.get(bytes);
    return bytes;
  }

  private static byte[] one() {
    return new byte[] {1};
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] joined(byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    ByteBuffer all = ByteBuffer.allocate(length);
    for (byte[] part : parts) {
      all.put(part);
    }
    return all.array();
  }
}
