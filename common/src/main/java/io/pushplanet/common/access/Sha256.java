package io.pushplanet.common.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256, which every Java platform has
/// (https://docs.oracle.com/en/java/javase/25/docs/api/java.base/java/security/MessageDigest.html).
/// Thread-safe.
public final class Sha256 {
  private Sha256() {}

  /// @return 32 bytes, the caller's own
  public static byte[] of(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /// Of the text's UTF-8.
  public static byte[] of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /// @return 64 digits, in lower case
  public static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(of(bytes));
  }
}
