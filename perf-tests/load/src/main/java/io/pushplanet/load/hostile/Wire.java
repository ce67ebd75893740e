package io.pushplanet.load.hostile;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.random.RandomGenerator;

/// Well-formed packets before their mutation, and frames of RFC 6455 around them.
final class Wire {
  static final byte[] UPGRADE =
      ("GET /mqtt HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              + "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Version: 13\r\n\r\n")
          .getBytes(US_ASCII);

  private static final int CONNECT = 0x10;
  private static final int USER_PASSWORD_CLEAN = 0xC2;
  private static final int KEEP_ALIVE_SECONDS = 60;
  private static final int V5 = 5;

  private Wire() {}

  static byte[] connect(int level, String clientId, String user, String password) {
    var body = new ByteArrayOutputStream();
    string(body, "MQTT");
    body.write(level);
    body.write(USER_PASSWORD_CLEAN);
    number(body, KEEP_ALIVE_SECONDS);
    noProperties(body, level);
    string(body, clientId);
    string(body, user);
    string(body, password);
    return packet(CONNECT, body);
  }

  static byte[] subscribe(int level, int packetId, String filter) {
    var body = new ByteArrayOutputStream();
    number(body, packetId);
    noProperties(body, level);
    string(body, filter);
    body.write(1);
    return packet(0x82, body);
  }

  static byte[] unsubscribe(int level, int packetId, String filter) {
    var body = new ByteArrayOutputStream();
    number(body, packetId);
    noProperties(body, level);
    string(body, filter);
    return packet(0xA2, body);
  }

  static byte[] publish(int level, int packetId, String topic, String payload) {
    var body = new ByteArrayOutputStream();
    string(body, topic);
    number(body, packetId);
    noProperties(body, level);
    body.writeBytes(payload.getBytes(UTF_8));
    return packet(0x32, body);
  }

  static byte[] puback(int packetId) {
    var body = new ByteArrayOutputStream();
    number(body, packetId);
    return packet(0x40, body);
  }

  static byte[] ping() {
    return new byte[] {(byte) 0xC0, 0};
  }

  /// A fixed header that declares 268,435,455 bytes, the maximum of MQTT.
  static byte[] declaring268Megabytes() {
    return new byte[] {CONNECT, -1, -1, -1, 0x7F};
  }

  /// One masked binary frame.
  static byte[] frame(byte[] payload, RandomGenerator random) {
    var frame = new ByteArrayOutputStream(payload.length + 14);
    frame.write(0x82);
    if (payload.length < 126) {
      frame.write(0x80 | payload.length);
    } else {
      frame.write(0x80 | 126);
      number(frame, payload.length);
    }
    byte[] mask = new byte[4];
    random.nextBytes(mask);
    frame.writeBytes(mask);
    for (int index = 0; index < payload.length; index++) {
      frame.write(payload[index] ^ mask[index & 3]);
    }
    return frame.toByteArray();
  }

  /// The header of a frame of 268,435,455 bytes.
  static byte[] frameDeclaring268Megabytes() {
    return new byte[] {(byte) 0x82, -1, 0, 0, 0, 0, 0x0F, -1, -1, -1, 1, 2, 3, 4};
  }

  private static byte[] packet(int header, ByteArrayOutputStream body) {
    var packet = new ByteArrayOutputStream(body.size() + 5);
    packet.write(header);
    int rest = body.size();
    do {
      int digit = rest & 0x7F;
      rest >>>= 7;
      packet.write(rest > 0 ? digit | 0x80 : digit);
    } while (rest > 0);
    packet.writeBytes(body.toByteArray());
    return packet.toByteArray();
  }

  private static void noProperties(ByteArrayOutputStream body, int level) {
    if (level == V5) {
      body.write(0);
    }
  }

  private static void string(ByteArrayOutputStream to, String value) {
    byte[] bytes = value.getBytes(UTF_8);
    number(to, bytes.length);
    to.writeBytes(bytes);
  }

  private static void number(ByteArrayOutputStream to, int value) {
    to.write(value >>> 8);
    to.write(value);
  }
}
