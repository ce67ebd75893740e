package io.pushplanet.cm.mqtt.codec;

/// The types of control packets, and the first byte of each: the type in its upper four bits, flags
/// in its lower four (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901022).
final class PacketType {
  static final int CONNECT = 1;
  static final int CONNACK = 2;
  static final int PUBLISH = 3;
  static final int PUBACK = 4;
  static final int PUBREC = 5;
  static final int PUBREL = 6;
  static final int PUBCOMP = 7;
  static final int SUBSCRIBE = 8;
  static final int SUBACK = 9;
  static final int UNSUBSCRIBE = 10;
  static final int UNSUBACK = 11;
  static final int PINGREQ = 12;
  static final int PINGRESP = 13;
  static final int DISCONNECT = 14;
  static final int AUTH = 15;

  /// The flags of PUBLISH; its QoS stands between them.
  static final int DUPLICATE = 0x08;

  static final int RETAIN = 0x01;

  private static final int FORBIDDEN = 0;

  private PacketType() {}

  /// The first byte of a packet of this type. In PUBLISH flags are added.
  static int firstByte(int type) {
    return type << 4 | reservedFlags(type);
  }

  /// Whether the type exists and its reserved flags are as they must be.
  static boolean isValid(int firstByte) {
    int type = of(firstByte);
    return type == PUBLISH || (type != FORBIDDEN && firstByte == firstByte(type));
  }

  static int of(int firstByte) {
    return firstByte >> 4;
  }

  private static int reservedFlags(int type) {
    return type == PUBREL || type == SUBSCRIBE || type == UNSUBSCRIBE ? 0x02 : 0;
  }
}
