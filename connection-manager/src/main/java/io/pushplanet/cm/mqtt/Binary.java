package io.pushplanet.cm.mqtt;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Bytes that compare by their content and show only their number: they may be a password or somebody's message.
/// The array is not copied; whoever hands it over gives it away.
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
