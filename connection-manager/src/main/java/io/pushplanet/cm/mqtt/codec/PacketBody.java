package io.pushplanet.cm.mqtt.codec;

import static io.pushplanet.cm.mqtt.codec.ProtocolViolation.malformed;
import static io.pushplanet.cm.mqtt.codec.ProtocolViolation.protocolError;

import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.PropertyId.Place;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/// Reads the bytes of one packet after its fixed header, field by field. Reading past the end is a
/// malformed packet.
final class PacketBody {
  private final ByteBuffer bytes;
  private final PacketLimits limits;

  PacketBody(ByteBuffer bytes, PacketLimits limits) {
    this.bytes = bytes;
    this.limits = limits;
  }

  boolean hasMore() {
    return bytes.hasRemaining();
  }

  void end() {
    if (bytes.hasRemaining()) {
      throw malformed("bytes after the end of the packet");
    }
  }

  int unsignedByte() {
    need(1);
    return bytes.get() & 0xFF;
  }

  int unsignedShort() {
    need(2);
    return bytes.getShort() & 0xFFFF;
  }

  long unsignedInt() {
    need(4);
    return bytes.getInt() & 0xFFFF_FFFFL;
  }

  int packetId() {
    int id = unsignedShort();
    if (id == 0) {
      throw protocolError("packet identifier 0");
    }
    return id;
  }

  QoS qos(int bits) {
    if (bits > 2) {
      throw malformed("QoS 3");
    }
    return QoS.of(bits);
  }

  boolean bool(int bit) {
    return bit != 0;
  }

  int varint() {
    int value = 0;
    for (int index = 0; index < 4; index++) {
      int next = unsignedByte();
      value |= (next & 0x7F) << (7 * index);
      if ((next & 0x80) == 0) {
        if (next == 0 && index > 0) {
          throw malformed("variable byte integer longer than needed");
        }
        return value;
      }
    }
    throw malformed("variable byte integer of more than four bytes");
  }

  byte[] binary() {
    return take(unsignedShort());
  }

  byte[] rest() {
    return take(bytes.remaining());
  }

  /// Reads UTF-8 as MQTT defines it: no overlong forms, no surrogates, no U+0000.
  String text() {
    byte[] encoded = binary();
    if (isAscii(encoded)) {
      return new String(encoded, StandardCharsets.US_ASCII);
    }
    try {
      String text =
          StandardCharsets.UTF_8
              .newDecoder()
              .onMalformedInput(CodingErrorAction.REPORT)
              .onUnmappableCharacter(CodingErrorAction.REPORT)
              .decode(ByteBuffer.wrap(encoded))
              .toString();
      if (text.indexOf('\0') >= 0) {
        throw malformed("U+0000 in a string");
      }
      return text;
    } catch (CharacterCodingException notUtf8) {
      throw malformed("a string that is not UTF-8");
    }
  }

  /// Nearly all texts are ASCII without U+0000; for these there is a faster way than a decoder.
  private static boolean isAscii(byte[] encoded) {
    for (byte each : encoded) {
      if (each <= 0) {
        return false;
      }
    }
    return true;
  }

  /// Reads the name of a topic to publish to; it may be empty.
  String topicName() {
    String topic = topic(ReasonCode.TOPIC_NAME_INVALID);
    if (topic.indexOf('+') >= 0 || topic.indexOf('#') >= 0) {
      throw new ProtocolViolation(ReasonCode.TOPIC_NAME_INVALID, "a wildcard in a topic name");
    }
    return topic;
  }

  String topicFilter() {
    String filter = topic(ReasonCode.TOPIC_FILTER_INVALID);
    if (filter.isEmpty()) {
      throw malformed("an empty topic filter");
    }
    return filter;
  }

  private String topic(ReasonCode tooLong) {
    need(2);
    if ((bytes.getShort(bytes.position()) & 0xFFFF) > PacketLimits.TOPIC_BYTES) {
      throw new ProtocolViolation(tooLong, "a topic over " + PacketLimits.TOPIC_BYTES + " bytes");
    }
    String topic = text();
    int levels = 1;
    for (int slash = topic.indexOf('/'); slash >= 0; slash = topic.indexOf('/', slash + 1)) {
      levels++;
    }
    if (levels > PacketLimits.TOPIC_LEVELS) {
      throw new ProtocolViolation(
          tooLong, "a topic of more than " + PacketLimits.TOPIC_LEVELS + " levels");
    }
    return topic;
  }

  MqttProperties properties(Place place) {
    int length = varint();
    if (length == 0) {
      return MqttProperties.NONE;
    }
    if (length > limits.propertyBytes()) {
      throw new ProtocolViolation(
          ReasonCode.PACKET_TOO_LARGE, "properties over " + limits.propertyBytes() + " bytes");
    }
    need(length);
    var inner = new PacketBody(bytes.slice(bytes.position(), length), limits);
    bytes.position(bytes.position() + length);
    MqttProperties.Builder collected = MqttProperties.builder();
    while (inner.hasMore()) {
      inner.property(place, collected);
    }
    MqttProperties properties = collected.build();
    if (properties.has(PropertyId.AUTHENTICATION_DATA)
        && !properties.has(PropertyId.AUTHENTICATION_METHOD)) {
      throw protocolError("authentication data without a method");
    }
    return properties;
  }

  private void property(Place place, MqttProperties.Builder into) {
    var property = PropertyId.of(varint()).orElseThrow(() -> malformed("a property nobody knows"));
    if (!property.mayStandIn(place)) {
      throw malformed(property + " in " + place);
    }
    if (into.has(property) && !repeats(property, place)) {
      throw protocolError(property + " twice");
    }
    switch (property.form()) {
      case BYTE -> into.number(property, checked(property, unsignedByte()));
      case SHORT -> into.number(property, checked(property, unsignedShort()));
      case INT -> into.number(property, checked(property, unsignedInt()));
      case VARINT -> into.number(property, checked(property, varint()));
      case TEXT ->
          into.text(property, property == PropertyId.RESPONSE_TOPIC ? topicName() : text());
      case BINARY -> into.binary(property, binary());
      case TEXT_PAIR -> {
        if (into.userProperties() == limits.userProperties()) {
          throw new ProtocolViolation(
              ReasonCode.QUOTA_EXCEEDED,
              "more than " + limits.userProperties() + " user properties");
        }
        into.user(text(), text());
      }
    }
  }

  // A client that holds overlapping subscriptions gets their identifiers in one PUBLISH.
  private static boolean repeats(PropertyId property, Place place) {
    return property == PropertyId.SUBSCRIPTION_IDENTIFIER && place == Place.PUBLISH;
  }

  private static long checked(PropertyId property, long value) {
    switch (property) {
      case RECEIVE_MAXIMUM, MAXIMUM_PACKET_SIZE, SUBSCRIPTION_IDENTIFIER -> {
        if (value == 0) {
          throw protocolError(property + " of 0");
        }
      }
      case TOPIC_ALIAS -> {
        if (value == 0) {
          throw new ProtocolViolation(ReasonCode.TOPIC_ALIAS_INVALID, "topic alias 0");
        }
      }
      default -> {
        if (property.form() == PropertyId.Form.BYTE && value > 1) {
          throw protocolError(property + " must be 0 or 1");
        }
      }
    }
    return value;
  }

  private byte[] take(int length) {
    need(length);
    var taken = new byte[length];
    bytes.get(taken);
    return taken;
  }

  private void need(int length) {
    if (bytes.remaining() < length) {
      throw malformed("the packet ends too early");
    }
  }
}
