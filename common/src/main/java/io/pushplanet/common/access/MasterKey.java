package io.pushplanet.common.access;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// The one secret of an installation, 32 random bytes kept outside the database. Keys for separate
/// purposes are derived from it with HMAC-SHA256 over the purpose's name (NIST SP 800-108, one
/// block). After a change it knows its former keys: they sign and encrypt nothing new, but their
/// earlier work stays valid. Thread-safe.
public final class MasterKey {
  private static final int BYTES = 32;

  private final byte[] key;
  private final List<MasterKey> former;

  private MasterKey(byte[] key, List<MasterKey> former) {
    this.key = key;
    this.former = List.copyOf(former);
  }

  /// @param base64 32 bytes in base64, as made by [#generate]
  /// @throws IllegalArgumentException for any other text
  public static MasterKey parse(String base64) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(base64.strip());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "pushplanet.master-key is not base64; make one with: openssl rand -base64 32", e);
    }
    if (bytes.length != BYTES) {
      throw new IllegalArgumentException(
          "pushplanet.master-key has "
              + bytes.length
              + " bytes instead of 32; make one with: openssl rand -base64 32");
    }
    return new MasterKey(bytes, List.of());
  }

  /// This key, with other keys whose work is still accepted. During a change these include the next
  /// key, so that processes may change one after the other.
  public MasterKey accepting(List<MasterKey> others) {
    return new MasterKey(key, others);
  }

  /// This key first.
  public List<MasterKey> currentAndFormer() {
    List<MasterKey> keys = new ArrayList<>();
    keys.add(this);
    keys.addAll(former);
    return keys;
  }

  /// A new key in base64.
  public static String generate(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  /// A 32-byte key for one purpose.
  public byte[] derive(String purpose) {
    return hmac(key, purpose.getBytes(StandardCharsets.UTF_8));
  }

  /// HMAC-SHA256 of `data` under the key of `purpose`.
  public byte[] sign(String purpose, byte[] data) {
    byte[] derived = derive(purpose);
    try {
      return hmac(derived, data);
    } finally {
      Arrays.fill(derived, (byte) 0);
    }
  }

  /// Does what [#sign] does for one purpose, but derives the key only once.
  public Signer signer(String purpose) {
    return new Signer(mac(derive(purpose)));
  }

  /// Thread-safe.
  public static final class Signer {
    private final Mac ready;

    private Signer(Mac ready) {
      this.ready = ready;
    }

    public byte[] sign(byte[] data) {
      try {
        // The look-up of the provider and the key's set-up take longer than the signature.
        return ((Mac) ready.clone()).doFinal(data);
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException("this JDK's HmacSHA256 cannot be copied", e);
      }
    }
  }

  private static byte[] hmac(byte[] key, byte[] data) {
    return mac(key).doFinal(data);
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK lacks HmacSHA256", e);
    }
  }

  @Override
  public String toString() {
    return "MasterKey[***]";
  }
}
