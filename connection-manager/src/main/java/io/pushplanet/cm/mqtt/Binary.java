package io.pushplanet.cm.mqtt;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Bytes that are compared by content and printed only as a length, because they may be a password
/// or a message. The array is not copied; the caller must not use it any more.
public record Binary(byte[] bytes) {

  public static final Binary EMPTY = new Binary(new byte[0]);

  public static Binary of(String text) {
    return new Binary(text.getBytes(StandardCharsets.UTF_8));
  }

  public int size() {
    return bytes.length;
  }

  public String utf8() {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Binary that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return bytes.length + " bytes";
  }
}
