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
  private static final int CONNECT = 1;
  private static final int PUBLISH = 3;
  private static final int SUBSCRIBE = 8;

  /// The lower four bits that each packet type must have; PUBLISH has real flags there.
  private static final int[] RESERVED_FLAGS = {-1, 0, 0, -1, 0, 0, 2, 0, 2, 0, 2, 0, 0, 0, 0, 0};

  /// Reads one packet from `input`. After a whole packet the position is behind it; otherwise it is
  /// unchanged. `version` is null until a CONNECT has been accepted; then, and only then, the
  /// packet must be a CONNECT.
  public DecodeOutcome decode(
      ByteBuffer input, @Nullable MqttVersion version, PacketLimits limits) {
    int start = input.position();
    if (input.remaining() < 1) {
      return DecodeOutcome.Incomplete.INSTANCE;
    }
    int first = input.get(start) & 0xFF;
    int type = first >> 4;
    if (version == null && type != CONNECT) {
      return new DecodeOutcome.Refused(
          ReasonCode.PROTOCOL_ERROR, "the first packet is not CONNECT", null);
    }
    if (type == 0 || (type != PUBLISH && (first & 0x0F) != RESERVED_FLAGS[type])) {
      return new DecodeOutcome.Refused(
          ReasonCode.MALFORMED_PACKET, "reserved flags in the fixed header", version);
    }
    int length = 0;
    int header = 1;
    while (true) {
      if (header > 4) {
        return new DecodeOutcome.Refused(
            ReasonCode.MALFORMED_PACKET, "remaining length of more than four bytes", version);
      }
      if (input.remaining() <= header) {
        return DecodeOutcome.Incomplete.INSTANCE;
      }
      int next = input.get(start + header) & 0xFF;
      length |= (next & 0x7F) << (7 * (header - 1));
      header++;
      if ((next & 0x80) == 0) {
        if (next == 0 && header > 2) {
          return new DecodeOutcome.Refused(
              ReasonCode.MALFORMED_PACKET, "remaining length longer than needed", version);
        }
        break;
      }
    }
    if (length > limits.packetBytes()) {
      return new DecodeOutcome.Refused(
          ReasonCode.PACKET_TOO_LARGE,
          "packet of " + length + " bytes, allowed are " + limits.packetBytes(),
          version == null ? versionAhead(input, start + header) : version);
    }
    if (input.remaining() < header + length) {
      return DecodeOutcome.Incomplete.INSTANCE;
    }
    var body = new PacketBody(input.slice(start + header, length), limits);
    input.position(start + header + length);
    if (type == CONNECT) {
      return connect(body);
    }
    try {
      // The version is null only before CONNECT, and that case has been refused above.
      return new DecodeOutcome.Decoded(
          packet(type, first & 0x0F, body, version == MqttVersion.V5, limits));
    } catch (ProtocolViolation violation) {
      return new DecodeOutcome.Refused(violation.reason(), violation.why(), version);
    }
  }

  /// Finds the version of a CONNECT in the bytes that have arrived, so that even an oversized one
  /// is answered.
  private static @Nullable MqttVersion versionAhead(ByteBuffer input, int body) {
    return input.limit() > body + 6
            && input.getShort(body) == 4
            && input.getInt(body + 2) == 0x4D515454
            && input.get(body + 6) == 5
        ? MqttVersion.V5
        : null;
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
      int type, int flags, PacketBody body, boolean v5, PacketLimits limits) {
    MqttPacket packet =
        switch (type) {
          case 2 -> connAck(body, v5);
          case PUBLISH -> publish(flags, body, v5);
          case 4, 5, 6, 7 -> acknowledgement(type, body, v5);
          case SUBSCRIBE -> subscribe(body, v5, limits);
          case 9 -> subAck(body, v5);
          case 10 -> unsubscribe(body, v5, limits);
          case 11 -> unsubAck(body, v5);
          case 12 -> new MqttPacket.PingReq();
          case 13 -> new MqttPacket.PingResp();
          case 14 -> disconnect(body, v5);
          default -> auth(body, v5);
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

  private static MqttPacket publish(int flags, PacketBody body, boolean v5) {
    QoS qos = body.qos((flags >> 1) & 3);
    boolean duplicate = (flags & 0x08) != 0;
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
        topic, new Binary(body.rest()), qos, (flags & 0x01) != 0, duplicate, packetId, properties);
  }

  private static MqttPacket acknowledgement(int type, PacketBody body, boolean v5) {
    int packetId = body.packetId();
    ReasonCode reason = v5 && body.hasMore() ? reason(body) : ReasonCode.SUCCESS;
    MqttProperties properties =
        v5 && body.hasMore() ? body.properties(Place.ACK) : MqttProperties.NONE;
    return switch (type) {
      case 4 -> new MqttPacket.PubAck(packetId, reason, properties);
      case 5 -> new MqttPacket.PubRec(packetId, reason, properties);
      case 6 -> new MqttPacket.PubRel(packetId, reason, properties);
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
