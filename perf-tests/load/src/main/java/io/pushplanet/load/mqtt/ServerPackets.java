package io.pushplanet.load.mqtt;

import java.nio.ByteBuffer;

/// The packets of a server, by the type in the first four bits of their header.
public final class ServerPackets {
  public static final int CONNACK = 2;
  public static final int PUBLISH = 3;
  public static final int PUBACK = 4;
  public static final int SUBACK = 9;
  public static final int PINGRESP = 13;
  public static final int DISCONNECT = 14;

  private ServerPackets() {}

  /// Reads a variable byte integer; -1 while it is not complete.
  ///
  /// @throws MalformedPacket when it is longer than four bytes
  public static int variableInt(ByteBuffer from) {
    int value = 0;
    for (int shift = 0; shift <= 21; shift += 7) {
      if (!from.hasRemaining()) {
        return -1;
      }
      int next = from.get();
      value |= (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new MalformedPacket("a length of more than four bytes");
  }
}
