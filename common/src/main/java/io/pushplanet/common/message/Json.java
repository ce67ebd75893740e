package io.pushplanet.common.message;

import java.nio.charset.StandardCharsets;

/// A JSON value as it was written. It is passed on without being parsed and written again.
///
/// @param text a complete JSON value
public record Json(String text) {
  /// Its length in UTF-8.
  public int bytes() {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /// Without the text, which may be a user's message.
  @Override
  public String toString() {
    return "Json[" + text.length() + " characters]";
  }
}
