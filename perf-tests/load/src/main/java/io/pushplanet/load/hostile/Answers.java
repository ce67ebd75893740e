package io.pushplanet.load.hostile;

import io.pushplanet.load.mqtt.ServerPackets;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// What a node sends on one connection, as it arrives: over WebSocket the answer to the upgrade and
/// the frames around its packets. Confined to one thread.
final class Answers {
  private static final int BINARY = 2;
  private static final int TWO_BYTES_OF_LENGTH = 126;
  private static final int EIGHT_BYTES_OF_LENGTH = 127;
  private static final String SWITCHED = "HTTP/1.1 101";
  private static final String END_OF_HEAD = "\r\n\r\n";

  /// Ready to be written to; what is before the position has not been read.
  private ByteBuffer arrived = ByteBuffer.allocate(4 * 1024);

  private ByteBuffer packets = ByteBuffer.allocate(4 * 1024);
  private final boolean webSocket;
  private boolean upgraded;
  private boolean admitted;
  private int pings;

  Answers(boolean webSocket) {
    this.webSocket = webSocket;
    this.upgraded = !webSocket;
  }

  /// The next bytes.
  ///
  /// @throws io.pushplanet.load.mqtt.MalformedPacket when they are not MQTT
  void add(byte[] bytes, int count) {
    ByteBuffer some = ByteBuffer.wrap(bytes, 0, count);
    if (!webSocket) {
      packets = appended(packets, some);
    } else {
      arrived = appended(arrived, some);
      arrived.flip();
      if (upgraded || upgrade()) {
        while (frame()) {}
      }
      arrived.compact();
    }
    packets.flip();
    while (packet()) {}
    packets.compact();
  }

  private static ByteBuffer appended(ByteBuffer to, ByteBuffer more) {
    if (to.remaining() >= more.remaining()) {
      return to.put(more);
    }
    int wanted = to.position() + more.remaining();
    return ByteBuffer.allocate(Math.max(wanted, 2 * to.capacity())).put(to.flip()).put(more);
  }

  /// Reads the answer to the upgrade, once it is whole. After a refusal nothing else is read.
  private boolean upgrade() {
    String head =
        new String(arrived.array(), arrived.position(), arrived.limit(), StandardCharsets.US_ASCII);
    int end = head.indexOf(END_OF_HEAD);
    if (end < 0) {
      return false;
    }
    arrived.position(end + END_OF_HEAD.length());
    upgraded = head.startsWith(SWITCHED);
    if (!upgraded) {
      arrived.position(arrived.limit());
    }
    return upgraded;
  }

  private boolean frame() {
    int start = arrived.position();
    if (arrived.remaining() < 2) {
      return false;
    }
    int kind = arrived.get() & 0x0F;
    long length = arrived.get() & 0x7F;
    int more = length == TWO_BYTES_OF_LENGTH ? 2 : length == EIGHT_BYTES_OF_LENGTH ? Long.BYTES : 0;
    if (arrived.remaining() < more) {
      arrived.position(start);
      return false;
    }
    if (more == 2) {
      length = arrived.getShort() & 0xFFFF;
    } else if (more == Long.BYTES) {
      length = arrived.getLong();
    }
    if (arrived.remaining() < length) {
      arrived.position(start);
      return false;
    }
    ByteBuffer payload = arrived.slice(arrived.position(), (int) length);
    arrived.position(arrived.position() + (int) length);
    if (kind == BINARY) {
      packets = appended(packets, payload);
    }
    return true;
  }

  private boolean packet() {
    int start = packets.position();
    if (packets.remaining() < 2) {
      return false;
    }
    int type = (packets.get() & 0xFF) >>> 4;
    int length = ServerPackets.variableInt(packets);
    if (length < 0 || packets.remaining() < length) {
      packets.position(start);
      return false;
    }
    int body = packets.position();
    if (type == ServerPackets.CONNACK && length >= 2) {
      admitted = packets.get(body + 1) == 0;
    } else if (type == ServerPackets.PINGRESP) {
      pings++;
    }
    packets.position(body + length);
    return true;
  }

  /// Whether the node has accepted a CONNECT.
  boolean isAdmitted() {
    return admitted;
  }

  /// PINGRESPs so far.
  int pings() {
    return pings;
  }
}
