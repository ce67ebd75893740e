package io.pushplanet.cm.mqtt.link;

/// By which kind of listener a device came, and should elsewhere.
public enum Door {
  MQTT,
  TLS,
  /// With or without TLS.
  WEB_SOCKET
}
