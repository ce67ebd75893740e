package io.pushplanet.simulators.webpush;

import java.security.KeyPair;
import java.security.interfaces.ECPublicKey;
import java.util.Base64;
import java.util.random.RandomGenerator;

/// A browser's subscription with its private key.
///
/// @param id the last segment of its endpoint
/// @param privateKey PKCS#8, base64url
/// @param p256dh the public key, an uncompressed point in base64url
/// @param auth 16 bytes in base64url
/// @param applicationServerKey the only VAPID key that may send to it; empty: any
public record Subscription(
    String id, String privateKey, String p256dh, String auth, String applicationServerKey) {
  private static final int ID_BYTES = 16;
  private static final int AUTH_BYTES = 16;

  static Subscription make(String applicationServerKey, RandomGenerator random) {
    Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
    KeyPair pair = P256.generate();
    byte[] id = new byte[ID_BYTES];
    byte[] auth = new byte[AUTH_BYTES];
    random.nextBytes(id);
    random.nextBytes(auth);
    return new Subscription(
        base64.encodeToString(id),
        base64.encodeToString(pair.getPrivate().getEncoded()),
        base64.encodeToString(P256.encode((ECPublicKey) pair.getPublic())),
        base64.encodeToString(auth),
        applicationServerKey);
  }

  @Override
  public String toString() {
    return "Subscription[" + id + "]";
  }
}
