package io.pushplanet.load.fleet;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/// Writes the few packets a device sends. 3.1.1:
/// https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/mqtt-v3.1.1.html, 5:
/// https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html
final class DeviceWire {
  static final String MESSAGES = "push/messages";
  static final String RECEIPTS = "push/receipts";
  static final int CONNACK = 2;
  static final int PUBLISH = 3;
  static final int PUBACK = 4;
  static final int SUBACK = 9;
  static final int PINGRESP = 13;
  static final int DISCONNECT = 14;

  private static final int SESSION_EXPIRY_INTERVAL = 0x11;
  private static final Duration SESSION_EXPIRY = Duration.ofHours(1);

  /// User name, password, and a session that outlives the connection.
  private static final int CONNECT_FLAGS = 0xC0;

  private static final int CLEAN = 0x02;

  private DeviceWire() {}

  static ByteBuffer connect(Device device, FleetSettings settings) {
    byte[] clientId = utf8(device.id().value());
    byte[] user = utf8(device.app().value());
    byte[] password = utf8(device.password().reveal());
    int properties = device.version() == MqttVersion.V5 ? 6 : 0;
    int length = 10 + properties + 6 + clientId.length + user.length + password.length;
    ByteBuffer packet = start(0x10, length);
    string(packet, utf8("MQTT"));
    packet
        .put((byte) device.version().level())
        .put((byte) (CONNECT_FLAGS | (settings.forgets() ? CLEAN : 0)));
    packet.putShort((short) settings.keepAlive().toSeconds());
    if (properties > 0) {
      packet.put((byte) 5).put((byte) SESSION_EXPIRY_INTERVAL);
      packet.putInt(settings.forgets() ? 0 : (int) SESSION_EXPIRY.toSeconds());
    }
    string(packet, clientId);
    string(packet, user);
    string(packet, password);
    return packet.flip();
  }

  static ByteBuffer subscribe(MqttVersion version, int packetId, int qos) {
    byte[] topic = utf8(MESSAGES);
    int properties = version == MqttVersion.V5 ? 1 : 0;
    ByteBuffer packet = start(0x82, 2 + properties + 2 + topic.length + 1);
    packet.putShort((short) packetId);
    noProperties(packet, version);
    string(packet, topic);
    return packet.put((byte) qos).flip();
  }

  static ByteBuffer publish(MqttVersion version, int packetId, String topicName, byte[] payload) {
    byte[] topic = utf8(topicName);
    int properties = version == MqttVersion.V5 ? 1 : 0;
    ByteBuffer packet = start(0x32, 2 + topic.length + 2 + properties + payload.length);
    string(packet, topic);
    packet.putShort((short) packetId);
    noProperties(packet, version);
    return packet.put(payload).flip();
  }

  static void puback(ByteBuffer to, int packetId) {
    to.put((byte) 0x40).put((byte) 2).putShort((short) packetId);
  }

  static ByteBuffer ping() {
    return ByteBuffer.wrap(new byte[] {(byte) 0xC0, 0});
  }

  static ByteBuffer disconnect() {
    return ByteBuffer.wrap(new byte[] {(byte) 0xE0, 0});
  }

  /// Reads a variable byte integer; -1 while it is not complete.
  ///
  /// @throws MalformedPacket when it is longer than four bytes
  static int variableInt(ByteBuffer from) {
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

  private static ByteBuffer start(int header, int length) {
    ByteBuffer packet = ByteBuffer.allocate(length + 5);
    packet.put((byte) header);
    int rest = length;
    do {
      int digit = rest & 0x7F;
      rest >>>= 7;
      packet.put((byte) (rest > 0 ? digit | 0x80 : digit));
    } while (rest > 0);
    return packet;
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
