package io.pushplanet.load.client;

import java.nio.charset.StandardCharsets;

/// A status and its body.
public record HttpAnswer(int status, byte[] body) {
  public String text() {
    return new String(body, StandardCharsets.UTF_8);
  }
}
