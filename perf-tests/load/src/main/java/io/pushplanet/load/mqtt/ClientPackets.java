package io.pushplanet.load.mqtt;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Writes the packets of a client. 3.1.1:
/// https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html, 5:
/// https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html
public final class ClientPackets {
  /// The first byte of a CONNECT.
  public static final int CONNECT = 0x10;

  private static final int PUBLISH_AT_QOS_1 = 0x32;
  private static final int PUBACK = 0x40;
  private static final int SUBSCRIBE = 0x82;
  private static final int UNSUBSCRIBE = 0xA2;
  private static final byte[] PINGREQ = {(byte) 0xC0, 0};
  private static final byte[] DISCONNECT = {(byte) 0xE0, 0};

  private static final int USER_AND_PASSWORD = 0xC0;
  private static final int CLEAN = 0x02;
  private static final int SESSION_EXPIRY_INTERVAL = 0x11;
  private static final int SESSION_EXPIRY_BYTES = 5;

  private ClientPackets() {}

  public static byte[] connect(Connect connect) {
    byte[] clientId = utf8(connect.clientId());
    byte[] user = utf8(connect.user());
    byte[] password = utf8(connect.password().reveal());
    boolean five = connect.version() == MqttVersion.V5;
    boolean lives = connect.sessionLives().isPositive();
    int properties = five ? 1 + (lives ? SESSION_EXPIRY_BYTES : 0) : 0;
    int strings = 2 + clientId.length + 2 + user.length + 2 + password.length;
    ByteBuffer packet = start(CONNECT, 10 + properties + strings);
    string(packet, utf8("MQTT"));
    packet.put((byte) connect.version().level());
    packet.put((byte) (lives ? USER_AND_PASSWORD : USER_AND_PASSWORD | CLEAN));
    packet.putShort((short) connect.keepAlive().toSeconds());
    if (five && lives) {
      packet.put((byte) SESSION_EXPIRY_BYTES).put((byte) SESSION_EXPIRY_INTERVAL);
      packet.putInt((int) connect.sessionLives().toSeconds());
    } else {
      noProperties(packet, connect.version());
    }
    string(packet, clientId);
    string(packet, user);
    string(packet, password);
    return packet.array();
  }

  public static byte[] subscribe(MqttVersion version, int packetId, String filter, int qos) {
    byte[] topic = utf8(filter);
    ByteBuffer packet = start(SUBSCRIBE, 2 + properties(version) + 2 + topic.length + 1);
    packet.putShort((short) packetId);
    noProperties(packet, version);
    string(packet, topic);
    return packet.put((byte) qos).array();
  }

  public static byte[] unsubscribe(MqttVersion version, int packetId, String filter) {
    byte[] topic = utf8(filter);
    ByteBuffer packet = start(UNSUBSCRIBE, 2 + properties(version) + 2 + topic.length);
    packet.putShort((short) packetId);
    noProperties(packet, version);
    string(packet, topic);
    return packet.array();
  }

  /// At QoS 1.
  public static byte[] publish(MqttVersion version, int packetId, String topic, byte[] payload) {
    byte[] name = utf8(topic);
    ByteBuffer packet =
        start(PUBLISH_AT_QOS_1, 2 + name.length + 2 + properties(version) + payload.length);
    string(packet, name);
    packet.putShort((short) packetId);
    noProperties(packet, version);
    return packet.put(payload).array();
  }

  /// Appends the acknowledgement of a message.
  public static void puback(ByteBuffer to, int packetId) {
    to.put((byte) PUBACK).put((byte) 2).putShort((short) packetId);
  }

  public static byte[] ping() {
    return PINGREQ.clone();
  }

  public static byte[] disconnect() {
    return DISCONNECT.clone();
  }

  /// A packet of exactly its size, with its fixed header.
  private static ByteBuffer start(int header, int length) {
    int lengthBytes = length < 1 << 7 ? 1 : length < 1 << 14 ? 2 : length < 1 << 21 ? 3 : 4;
    ByteBuffer packet = ByteBuffer.allocate(1 + lengthBytes + length);
    packet.put((byte) header);
    int rest = length;
    do {
      int digit = rest & 0x7F;
      rest >>>= 7;
      packet.put((byte) (rest > 0 ? digit | 0x80 : digit));
    } while (rest > 0);
    return packet;
  }

  private static int properties(MqttVersion version) {
    return version == MqttVersion.V5 ? 1 : 0;
  }

  private static void noProperties(ByteBuffer packet, MqttVersion version) {
    if (version == MqttVersion.V5) {
      packet.put((byte) 0);
    }
  }

  private static void string(ByteBuffer packet, byte[] value) {
    packet.putShort((short) value.length).put(value);
  }

  private static byte[] utf8(String value) {
    return value.getBytes(StandardCharsets.UTF_8);
  }
}
