package io.pushplanet.load.mqtt;

/// The server sent a packet that MQTT forbids.
public final class MalformedPacket extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public MalformedPacket(String what) {
    super(what);
  }
}
