package io.pushplanet.cm.mqtt.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// A growing array for one packet. It leaves room in front for the fixed header, so that no byte is
/// copied twice.
final class PacketBytes {
  private static final int HEADER_ROOM = 5;

  private byte[] bytes = new byte[128];
  private int end = HEADER_ROOM;

  int size() {
    return end - HEADER_ROOM;
  }

  void write(int value) {
    room(1);
    bytes[end++] = (byte) value;
  }

  void shortInteger(int value) {
    write(value >> 8);
    write(value);
  }

  void integer(long value) {
    shortInteger((int) (value >> 16));
    shortInteger((int) value);
  }

  void varint(int value) {
    int rest = value;
    while (rest > 0x7F) {
      write((rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    write(rest);
  }

  void text(String value) {
    binary(value.getBytes(StandardCharsets.UTF_8));
  }

  void binary(byte[] value) {
    if (value.length > 0xFFFF) {
      throw new IllegalArgumentException("MQTT strings hold at most 65535 bytes");
    }
    shortInteger(value.length);
    raw(value);
  }

  void raw(byte[] value) {
    room(value.length);
    System.arraycopy(value, 0, bytes, end, value.length);
    end += value.length;
  }

  void append(PacketBytes other) {
    room(other.size());
    System.arraycopy(other.bytes, HEADER_ROOM, bytes, end, other.size());
    end += other.size();
  }

  /// Returns the whole packet of this [type][PacketType].
  byte[] frame(int type) {
    return frame(type, 0);
  }

  /// @param flags those of PUBLISH
  byte[] frame(int type, int flags) {
    int length = size();
    int lengthBytes = length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : 4;
    int start = HEADER_ROOM - lengthBytes - 1;
    bytes[start] = (byte) (PacketType.firstByte(type) | flags);
    for (int index = 0, rest = length; index < lengthBytes; index++, rest >>>= 7) {
      bytes[start + 1 + index] = (byte) ((rest & 0x7F) | (index < lengthBytes - 1 ? 0x80 : 0));
    }
    return Arrays.copyOfRange(bytes, start, end);
  }

  private void room(int more) {
    if (bytes.length - end < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, end + more));
    }
  }
}
