package io.pushplanet.load.hostile;

import java.util.Arrays;

/// A kind of listener of a node, by its name on `GET /node`.
public enum Door {
  MQTT("mqtt", false, false),
  TLS("tls", true, false),
  WS("ws", false, true),
  WSS("wss", true, true),
  GATEWAY("gateway", false, false);

  private final String text;
  private final boolean tls;
  private final boolean webSocket;

  Door(String text, boolean tls, boolean webSocket) {
    this.text = text;
    this.tls = tls;
    this.webSocket = webSocket;
  }

  /// @throws IllegalArgumentException for an unknown name
  public static Door named(String text) {
    return Arrays.stream(values())
        .filter(door -> door.text.equals(text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no listener '" + text + "'"));
  }

  public String text() {
    return text;
  }

  public boolean isTls() {
    return tls;
  }

  public boolean isWebSocket() {
    return webSocket;
  }
}
