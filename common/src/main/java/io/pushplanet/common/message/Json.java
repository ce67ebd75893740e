package io.pushplanet.common.message;

import java.nio.charset.StandardCharsets;

/// A JSON value as it was written, passed on unread: who only hands it over need not take it apart and put it together again.
///
/// @param text a complete JSON value
public record Json(String text) {
  /// How long it is in UTF-8.
  public int bytes() {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /// Without the text, which may be somebody's message.
  @Override
  public String toString() {
    return "Json[" + text.length() + " characters]";
  }
}
