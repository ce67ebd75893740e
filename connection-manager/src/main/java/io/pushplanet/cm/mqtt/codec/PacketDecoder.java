package io.pushplanet.cm.mqtt.codec;

import static io.pushplanet.cm.mqtt.codec.ProtocolViolation.malformed;
import static io.pushplanet.cm.mqtt.codec.ProtocolViolation.protocolError;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.PropertyId.Place;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.Will;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the next control packet. Stateless and thread-safe; the caller passes the version and the
/// limits of its connection. Keeps no reference to the buffer, whose byte order does not matter.
public final class PacketDecoder {
  private static final int MAX_LENGTH_BYTES = 4;

  /// Reads one packet from `input`. After a whole packet the position is behind it; otherwise it is
  /// unchanged. `version` is null until a CONNECT has been accepted; until then the packet must be
  /// a CONNECT, and afterwards it must not be one, of whatever version (MQTT-3.1.0-2).
  public DecodeOutcome decode(
      ByteBuffer input, @Nullable MqttVersion version, PacketLimits limits) {
    if (!input.hasRemaining()) {
      return DecodeOutcome.Incomplete.INSTANCE;
    }
    try {
      int start = input.position();
      int firstByte = input.get(start) & 0xFF;
      checkFirst(firstByte, version);
      int lengthBytes = lengthBytes(input, start + 1);
      if (lengthBytes == 0) {
        return DecodeOutcome.Incomplete.INSTANCE;
      }
      int body = start + 1 + lengthBytes;
      int length = length(input, start + 1, lengthBytes);
      if (length > limits.packetBytes()) {
        return tooLarge(length, limits, version == null ? versionAhead(input, body) : version);
      }
      if (input.limit() - body < length) {
        return DecodeOutcome.Incomplete.INSTANCE;
      }
      input.position(body + length);
      return whole(firstByte, new PacketBody(input.slice(body, length), limits), version, limits);
    } catch (ProtocolViolation violation) {
      return new DecodeOutcome.Refused(violation.reason(), violation.why(), version);
    }
  }

  private static void checkFirst(int firstByte, @Nullable MqttVersion version) {
    if (version == null && PacketType.of(firstByte) != PacketType.CONNECT) {
      throw protocolError("the first packet is not CONNECT");
    }
    if (version != null && PacketType.of(firstByte) == PacketType.CONNECT) {
      throw protocolError("a second CONNECT");
    }
    if (!PacketType.isValid(firstByte)) {
      throw malformed("reserved flags in the fixed header");
    }
  }

  /// Counts the bytes of the remaining length: all but the last have the highest bit set.
  ///
  /// @return 0 when the last one has not arrived
  private static int lengthBytes(ByteBuffer input, int at) {
    int arrived = Math.min(input.limit() - at, MAX_LENGTH_BYTES);
    for (int index = 0; index < arrived; index++) {
      byte next = input.get(at + index);
      if (next == 0 && index > 0) {
        throw malformed("remaining length longer than needed");
      }
      if (next >= 0) {
        return index + 1;
      }
    }
    if (arrived == MAX_LENGTH_BYTES) {
      throw malformed("remaining length of more than four bytes");
    }
    return 0;
  }

  private static int length(ByteBuffer input, int at, int lengthBytes) {
    int length = 0;
    for (int index = 0; index < lengthBytes; index++) {
      length |= (input.get(at + index) & 0x7F) << (7 * index);
    }
    return length;
  }

  private static DecodeOutcome tooLarge(
      int length, PacketLimits limits, @Nullable MqttVersion version) {
    return new DecodeOutcome.Refused(
        ReasonCode.PACKET_TOO_LARGE,
        "packet of " + length + " bytes, allowed are " + limits.packetBytes(),
        version);
  }

  /// Finds the version of a CONNECT in the bytes that have arrived, so that even an oversized one
  /// is answered.
  private static @Nullable MqttVersion versionAhead(ByteBuffer input, int body) {
    // A slice is big-endian, whatever the buffer is.
    ByteBuffer ahead = input.slice(body, input.limit() - body);
    return ahead.limit() > 6
            && ahead.getShort(0) == 4
            && ahead.getInt(2) == 0x4D515454
            && ahead.get(6) == 5
        ? MqttVersion.V5
        : null;
  }

  private static DecodeOutcome whole(
      int firstByte, PacketBody body, @Nullable MqttVersion version, PacketLimits limits) {
    if (PacketType.of(firstByte) == PacketType.CONNECT) {
      return connect(body);
    }
    // The version is null only before CONNECT, and that case has been refused.
    return new DecodeOutcome.Decoded(packet(firstByte, body, version == MqttVersion.V5, limits));
  }

  private static DecodeOutcome connect(PacketBody body) {
    MqttVersion version = null;
    try {
      String protocol = body.text();
      int level = body.unsignedByte();
      if (!protocol.equals("MQTT") || level < 4 || level > 5) {
        return new DecodeOutcome.Refused(
            ReasonCode.UNSUPPORTED_PROTOCOL_VERSION,
            "only MQTT 3.1.1 and 5.0 are spoken here",
            level >= 5 ? MqttVersion.V5 : MqttVersion.V3_1_1);
      }
      version = level == 5 ? MqttVersion.V5 : MqttVersion.V3_1_1;
      return new DecodeOutcome.Decoded(connect(version, body));
    } catch (ProtocolViolation violation) {
      return new DecodeOutcome.Refused(violation.reason(), violation.why(), version);
    }
  }

  private static MqttPacket connect(MqttVersion version, PacketBody body) {
    boolean v5 = version == MqttVersion.V5;
    int flags = body.unsignedByte();
    boolean willFlag = (flags & 0x04) != 0;
    if ((flags & 0x01) != 0) {
      throw malformed("reserved CONNECT flag");
    }
    if (!willFlag && (flags & 0x38) != 0) {
      throw malformed("will flags without a will");
    }
    boolean hasUserName = (flags & 0x80) != 0;
    boolean hasPassword = (flags & 0x40) != 0;
    if (!v5 && hasPassword && !hasUserName) {
      throw malformed("a password without a user name");
    }
    QoS willQos = body.qos((flags >> 3) & 3);
    int keepAlive = body.unsignedShort();
    MqttProperties properties = v5 ? body.properties(Place.CONNECT) : MqttProperties.NONE;
    String clientId = body.text();
    Will will = null;
    if (willFlag) {
      MqttProperties willProperties = v5 ? body.properties(Place.WILL) : MqttProperties.NONE;
      will =
          new Will(
              body.topicName(),
              new Binary(body.binary()),
              willQos,
              body.bool(flags & 0x20),
              willProperties);
    }
    String userName = hasUserName ? body.text() : null;
    Binary password = hasPassword ? new Binary(body.binary()) : null;
    body.end();
    return new MqttPacket.Connect(
        version,
        body.bool(flags & 0x02),
        keepAlive,
        clientId,
        userName,
        password,
        will,
        properties);
  }

  private static MqttPacket packet(
      int firstByte, PacketBody body, boolean v5, PacketLimits limits) {
    int type = PacketType.of(firstByte);
    MqttPacket packet =
        switch (type) {
          case PacketType.CONNACK -> connAck(body, v5);
          case PacketType.PUBLISH -> publish(firstByte, body, v5);
          case PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP ->
              acknowledgement(type, body, v5);
          case PacketType.SUBSCRIBE -> subscribe(body, v5, limits);
          case PacketType.SUBACK -> subAck(body, v5);
          case PacketType.UNSUBSCRIBE -> unsubscribe(body, v5, limits);
          case PacketType.UNSUBACK -> unsubAck(body, v5);
          case PacketType.PINGREQ -> new MqttPacket.PingReq();
          case PacketType.PINGRESP -> new MqttPacket.PingResp();
          case PacketType.DISCONNECT -> disconnect(body, v5);
          case PacketType.AUTH -> auth(body, v5);
          default -> throw new AssertionError("refused by its first byte: " + type);
        };
    body.end();
    return packet;
  }

  private static MqttPacket connAck(PacketBody body, boolean v5) {
    int flags = body.unsignedByte();
    if ((flags & 0xFE) != 0) {
      throw malformed("reserved CONNACK flags");
    }
    return new MqttPacket.ConnAck(
        flags == 1, body.unsignedByte(), properties(body, v5, Place.CONNACK));
  }

  private static MqttPacket publish(int firstByte, PacketBody body, boolean v5) {
    QoS qos = body.qos((firstByte >> 1) & 3);
    boolean duplicate = (firstByte & PacketType.DUPLICATE) != 0;
    boolean retain = (firstByte & PacketType.RETAIN) != 0;
    if (qos == QoS.AT_MOST_ONCE && duplicate) {
      throw malformed("DUP at QoS 0");
    }
    String topic = body.topicName();
    int packetId = qos == QoS.AT_MOST_ONCE ? 0 : body.packetId();
    MqttProperties properties = properties(body, v5, Place.PUBLISH);
    if (topic.isEmpty() && !properties.has(PropertyId.TOPIC_ALIAS)) {
      throw v5 ? protocolError("neither topic nor alias") : malformed("an empty topic");
    }
    return new MqttPacket.Publish(
        topic, new Binary(body.rest()), qos, retain, duplicate, packetId, properties);
  }

  private static MqttPacket acknowledgement(int type, PacketBody body, boolean v5) {
    int packetId = body.packetId();
    ReasonCode reason = v5 && body.hasMore() ? reason(body) : ReasonCode.SUCCESS;
    MqttProperties properties =
        v5 && body.hasMore() ? body.properties(Place.ACK) : MqttProperties.NONE;
    return switch (type) {
      case PacketType.PUBACK -> new MqttPacket.PubAck(packetId, reason, properties);
      case PacketType.PUBREC -> new MqttPacket.PubRec(packetId, reason, properties);
      case PacketType.PUBREL -> new MqttPacket.PubRel(packetId, reason, properties);
      default -> new MqttPacket.PubComp(packetId, reason, properties);
    };
  }

  private static MqttPacket subscribe(PacketBody body, boolean v5, PacketLimits limits) {
    int packetId = body.packetId();
    MqttProperties properties = properties(body, v5, Place.SUBSCRIBE);
    var requests = new ArrayList<SubscriptionRequest>();
    while (body.hasMore()) {
      room(requests.size(), limits);
      String filter = body.topicFilter();
      int options = body.unsignedByte();
      if ((options & (v5 ? 0xC0 : 0xFC)) != 0) {
        throw malformed("reserved subscription options");
      }
      QoS qos = body.qos(options & 3);
      int retainHandling = (options >> 4) & 3;
      if (retainHandling == 3) {
        throw protocolError("retain handling 3");
      }
      boolean noLocal = (options & 0x04) != 0;
      var request =
          new SubscriptionRequest(filter, qos, noLocal, (options & 0x08) != 0, retainHandling);
      if (noLocal && request.isShared()) {
        throw protocolError("no-local on a shared subscription");
      }
      requests.add(request);
    }
    if (requests.isEmpty()) {
      throw protocolError("SUBSCRIBE without a filter");
    }
    return new MqttPacket.Subscribe(packetId, requests, properties);
  }

  private static MqttPacket unsubscribe(PacketBody body, boolean v5, PacketLimits limits) {
    int packetId = body.packetId();
    MqttProperties properties = properties(body, v5, Place.UNSUBSCRIBE);
    var filters = new ArrayList<String>();
    while (body.hasMore()) {
      room(filters.size(), limits);
      filters.add(body.topicFilter());
    }
    if (filters.isEmpty()) {
      throw protocolError("UNSUBSCRIBE without a filter");
    }
    return new MqttPacket.Unsubscribe(packetId, filters, properties);
  }

  private static void room(int filters, PacketLimits limits) {
    if (filters == limits.filtersPerSubscribe()) {
      throw new ProtocolViolation(
          ReasonCode.QUOTA_EXCEEDED,
          "more than " + limits.filtersPerSubscribe() + " filters in one packet");
    }
  }

  private static MqttPacket subAck(PacketBody body, boolean v5) {
    int packetId = body.packetId();
    MqttProperties properties = properties(body, v5, Place.SUBACK);
    return new MqttPacket.SubAck(packetId, codes(body), properties);
  }

  private static MqttPacket unsubAck(PacketBody body, boolean v5) {
    int packetId = body.packetId();
    MqttProperties properties = properties(body, v5, Place.UNSUBACK);
    return new MqttPacket.UnsubAck(packetId, v5 ? codes(body) : List.of(), properties);
  }

  private static List<Integer> codes(PacketBody body) {
    var codes = new ArrayList<Integer>();
    while (body.hasMore()) {
      codes.add(body.unsignedByte());
    }
    return codes;
  }

  private static MqttPacket disconnect(PacketBody body, boolean v5) {
    if (!v5 || !body.hasMore()) {
      return new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE);
    }
    ReasonCode reason = reason(body);
    return new MqttPacket.Disconnect(
        reason, body.hasMore() ? body.properties(Place.DISCONNECT) : MqttProperties.NONE);
  }

  private static MqttPacket auth(PacketBody body, boolean v5) {
    if (!v5) {
      throw malformed("AUTH does not exist in 3.1.1");
    }
    if (!body.hasMore()) {
      return new MqttPacket.Auth(0, MqttProperties.NONE);
    }
    int code = body.unsignedByte();
    return new MqttPacket.Auth(
        code, body.hasMore() ? body.properties(Place.AUTH) : MqttProperties.NONE);
  }

  private static ReasonCode reason(PacketBody body) {
    return ReasonCode.of(body.unsignedByte())
        .orElseThrow(() -> malformed("a reason code nobody knows"));
  }

  private static MqttProperties properties(PacketBody body, boolean v5, Place place) {
    return v5 ? body.properties(place) : MqttProperties.NONE;
  }
}
