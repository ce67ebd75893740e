package io.pushplanet.load.fleet;

/// The server sent a packet that MQTT forbids.
final class MalformedPacket extends RuntimeException {
  private static final long serialVersionUID = 1L;

  MalformedPacket(String what) {
    super(what);
  }
}
