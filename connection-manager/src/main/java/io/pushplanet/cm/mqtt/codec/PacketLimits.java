package io.pushplanet.cm.mqtt.codec;

/// What a peer may make us hold. `packetBytes` is compared with the **declared** remaining length, before any of it is
/// buffered; the others while reading (why: CVE-2026-44248 and its two incomplete fixes).
public record PacketLimits(
    int packetBytes, int propertyBytes, int userProperties, int filtersPerSubscribe) {

  /// Longest topic name or filter, in bytes and in levels; no topic of this server comes near.
  public static final int TOPIC_BYTES = 256;

  public static final int TOPIC_LEVELS = 8;

  /// Before CONNECT has been accepted.
  public static final PacketLimits UNAUTHENTICATED = new PacketLimits(8 * 1024, 2 * 1024, 16, 16);

  public PacketLimits {
    if (packetBytes < 64 || packetBytes > 268_435_455) {
      throw new IllegalArgumentException(
          "packetBytes must be 64 to 268435455 but is " + packetBytes);
    }
  }

  public PacketLimits withPacketBytes(int bytes) {
    return new PacketLimits(bytes, propertyBytes, userProperties, filtersPerSubscribe);
  }
}
