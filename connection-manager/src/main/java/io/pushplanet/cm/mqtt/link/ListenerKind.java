package io.pushplanet.cm.mqtt.link;

/// The kind of listener that a device came to; another node should offer it the same kind.
public enum ListenerKind {
  MQTT,
  TLS,
  /// With or without TLS.
  WEB_SOCKET
}
