package io.pushplanet.cm.mqtt.codec;

/// How many bytes a peer may make this process hold. `packetBytes` is compared with the
/// **declared** remaining length, before any byte is buffered; the other limits apply while reading
/// (because of CVE-2026-44248 and its two incomplete fixes).
public record PacketLimits(
    int packetBytes, int propertyBytes, int userProperties, int filtersPerSubscribe) {

  /// The longest topic name or filter, in bytes and in levels; this server's topics are much
  /// shorter.
  public static final int TOPIC_BYTES = 256;

  public static final int TOPIC_LEVELS = 8;

  /// The limits before CONNECT has been accepted.
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
