package io.pushplanet.cm.mqtt.codec;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.UserProperty;
import io.pushplanet.cm.mqtt.Will;
import java.util.List;

/// Writes control packets of either version as one array each. Stateless and thread-safe. It writes
/// both directions' packets, so that the tests' raw client and the server cannot diverge.
public final class PacketEncoder {
  public byte[] encode(MqttPacket packet, MqttVersion version) {
    boolean v5 = version == MqttVersion.V5;
    var body = new PacketBytes();
    return switch (packet) {
      case MqttPacket.Connect connect -> connect(body, connect);
      case MqttPacket.ConnAck ack -> {
        body.write(ack.sessionPresent() ? 1 : 0);
        body.write(ack.code());
        properties(body, v5, ack.properties());
        yield body.frame(PacketType.CONNACK);
      }
      case MqttPacket.Publish publish -> publish(body, v5, publish);
      case MqttPacket.PubAck ack ->
          acknowledgement(
              body, PacketType.PUBACK, v5, ack.packetId(), ack.reason(), ack.properties());
      case MqttPacket.PubRec ack ->
          acknowledgement(
              body, PacketType.PUBREC, v5, ack.packetId(), ack.reason(), ack.properties());
      case MqttPacket.PubRel ack ->
          acknowledgement(
              body, PacketType.PUBREL, v5, ack.packetId(), ack.reason(), ack.properties());
      case MqttPacket.PubComp ack ->
          acknowledgement(
              body, PacketType.PUBCOMP, v5, ack.packetId(), ack.reason(), ack.properties());
      case MqttPacket.Subscribe subscribe -> subscribe(body, v5, subscribe);
      case MqttPacket.SubAck ack ->
          codes(body, PacketType.SUBACK, v5, ack.packetId(), ack.codes(), ack.properties());
      case MqttPacket.Unsubscribe unsubscribe -> {
        body.shortInteger(unsubscribe.packetId());
        properties(body, v5, unsubscribe.properties());
        unsubscribe.filters().forEach(body::text);
        yield body.frame(PacketType.UNSUBSCRIBE);
      }
      case MqttPacket.UnsubAck ack ->
          codes(
              body,
              PacketType.UNSUBACK,
              v5,
              ack.packetId(),
              v5 ? ack.codes() : List.of(),
              ack.properties());
      case MqttPacket.PingReq _ -> body.frame(PacketType.PINGREQ);
      case MqttPacket.PingResp _ -> body.frame(PacketType.PINGRESP);
      case MqttPacket.Disconnect disconnect ->
          reasoned(
              body, PacketType.DISCONNECT, v5, disconnect.reason().code(), disconnect.properties());
      case MqttPacket.Auth auth ->
          reasoned(body, PacketType.AUTH, v5, auth.code(), auth.properties());
    };
  }

  private static byte[] connect(PacketBytes body, MqttPacket.Connect connect) {
    boolean v5 = connect.version() == MqttVersion.V5;
    Will will = connect.will();
    int flags = connect.cleanStart() ? 0x02 : 0;
    if (will != null) {
      flags |= 0x04 | will.qos().ordinal() << 3 | (will.retain() ? 0x20 : 0);
    }
    flags |= (connect.userName() == null ? 0 : 0x80) | (connect.password() == null ? 0 : 0x40);
    body.text("MQTT");
    body.write(connect.version().level());
    body.write(flags);
    body.shortInteger(connect.keepAliveSeconds());
    properties(body, v5, connect.properties());
    body.text(connect.clientId());
    if (will != null) {
      properties(body, v5, will.properties());
      body.text(will.topic());
      body.binary(will.payload().bytes());
    }
    if (connect.userName() != null) {
      body.text(connect.userName());
    }
    if (connect.password() != null) {
      body.binary(connect.password().bytes());
    }
    return body.frame(PacketType.CONNECT);
  }

  private static byte[] publish(PacketBytes body, boolean v5, MqttPacket.Publish publish) {
    body.text(publish.topic());
    if (publish.qos() != QoS.AT_MOST_ONCE) {
      body.shortInteger(publish.packetId());
    }
    properties(body, v5, publish.properties());
    body.raw(publish.payload().bytes());
    return body.frame(
        PacketType.PUBLISH,
        (publish.duplicate() ? PacketType.DUPLICATE : 0)
            | publish.qos().ordinal() << 1
            | (publish.retain() ? PacketType.RETAIN : 0));
  }

  /// Copies a PUBLISH of QoS 1, for another recipient.
  ///
  /// @param publish the whole packet, without the DUP flag
  public static byte[] copyOfPublish(byte[] publish, int packetId, boolean duplicate) {
    byte[] copy = publish.clone();
    if (duplicate) {
      copy[0] |= PacketType.DUPLICATE;
    }
    int at = 1;
    // The remaining length: all its bytes but the last have the highest bit set.
    while (copy[at] < 0) {
      at++;
    }
    at++;
    int topicBytes = ((copy[at] & 0xFF) << 8) | (copy[at + 1] & 0xFF);
    at += 2 + topicBytes;
    copy[at] = (byte) (packetId >> 8);
    copy[at + 1] = (byte) packetId;
    return copy;
  }

  private static byte[] acknowledgement(
      PacketBytes body,
      int type,
      boolean v5,
      int packetId,
      ReasonCode reason,
      MqttProperties properties) {
    body.shortInteger(packetId);
    if (v5 && (reason != ReasonCode.SUCCESS || !properties.isEmpty())) {
      body.write(reason.code());
      if (!properties.isEmpty()) {
        properties(body, true, properties);
      }
    }
    return body.frame(type);
  }

  private static byte[] subscribe(PacketBytes body, boolean v5, MqttPacket.Subscribe subscribe) {
    body.shortInteger(subscribe.packetId());
    properties(body, v5, subscribe.properties());
    for (SubscriptionRequest request : subscribe.requests()) {
      body.text(request.filter());
      int options = request.qos().ordinal();
      if (v5) {
        options |=
            (request.noLocal() ? 0x04 : 0)
                | (request.retainAsPublished() ? 0x08 : 0)
                | request.retainHandling() << 4;
      }
      body.write(options);
    }
    return body.frame(PacketType.SUBSCRIBE);
  }

  private static byte[] codes(
      PacketBytes body,
      int type,
      boolean v5,
      int packetId,
      List<Integer> codes,
      MqttProperties properties) {
    body.shortInteger(packetId);
    properties(body, v5, properties);
    codes.forEach(body::write);
    return body.frame(type);
  }

  private static byte[] reasoned(
      PacketBytes body, int type, boolean v5, int code, MqttProperties properties) {
    if (v5 && (code != 0 || !properties.isEmpty())) {
      body.write(code);
      if (!properties.isEmpty()) {
        properties(body, true, properties);
      }
    }
    return body.frame(type);
  }

  private static void properties(PacketBytes body, boolean v5, MqttProperties properties) {
    if (!v5) {
      return;
    }
    if (properties.isEmpty()) {
      body.write(0);
      return;
    }
    var inner = new PacketBytes();
    properties.numbers().forEach((property, value) -> number(inner, property, value));
    properties
        .texts()
        .forEach((property, value) -> {
          inner.write(property.code());
          inner.text(value);
        });
    properties.binaries().forEach((property, value) -> binary(inner, property, value));
    for (UserProperty user : properties.userProperties()) {
      inner.write(PropertyId.USER_PROPERTY.code());
      inner.text(user.name());
      inner.text(user.value());
    }
    body.varint(inner.size());
    body.append(inner);
  }

  private static void number(PacketBytes into, PropertyId property, long value) {
    into.write(property.code());
    switch (property.form()) {
      case BYTE -> into.write((int) value);
      case SHORT -> into.shortInteger((int) value);
      case INT -> into.integer(value);
      case VARINT -> into.varint((int) value);
      case TEXT, BINARY, TEXT_PAIR ->
          throw new IllegalArgumentException(property + " is not a number");
    }
  }

  private static void binary(PacketBytes into, PropertyId property, Binary value) {
    into.write(property.code());
    into.binary(value.bytes());
  }
}
