package io.pushplanet.load.fleet;

/// The server sent what no MQTT server may send.
final class MalformedPacket extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MalformedPacket(String what) {
    super(what);
  }
}
