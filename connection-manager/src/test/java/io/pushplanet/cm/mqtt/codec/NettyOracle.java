package io.pushplanet.cm.mqtt.codec;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttConnAckMessage;
import io.netty.handler.codec.mqtt.MqttConnAckVariableHeader;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttConnectPayload;
import io.netty.handler.codec.mqtt.MqttConnectReturnCode;
import io.netty.handler.codec.mqtt.MqttConnectVariableHeader;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttFixedHeader;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageFactory;
import io.netty.handler.codec.mqtt.MqttMessageIdAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties.BinaryProperty;
import io.netty.handler.codec.mqtt.MqttProperties.IntegerProperty;
import io.netty.handler.codec.mqtt.MqttProperties.MqttProperty;
import io.netty.handler.codec.mqtt.MqttProperties.StringPair;
import io.netty.handler.codec.mqtt.MqttProperties.StringProperty;
import io.netty.handler.codec.mqtt.MqttProperties.UserProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttPublishVariableHeader;
import io.netty.handler.codec.mqtt.MqttQoS;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttReasonCodes.SubAck;
import io.netty.handler.codec.mqtt.MqttReasonCodes.UnsubAck;
import io.netty.handler.codec.mqtt.MqttSubAckPayload;
import io.netty.handler.codec.mqtt.MqttSubscribePayload;
import io.netty.handler.codec.mqtt.MqttSubscriptionOption;
import io.netty.handler.codec.mqtt.MqttSubscriptionOption.RetainedHandlingPolicy;
import io.netty.handler.codec.mqtt.MqttTopicSubscription;
import io.netty.handler.codec.mqtt.MqttUnsubAckPayload;
import io.netty.handler.codec.mqtt.MqttUnsubscribePayload;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.Will;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;

/// Netty's MQTT codec with our packet types: a second opinion on the meaning of bytes.
final class NettyOracle {
  private static final int LONGEST = 1 << 20;

  private NettyOracle() {}

  /// This packet, encoded by Netty.
  static byte[] encode(MqttPacket packet, MqttVersion version) {
    var channel = new EmbeddedChannel(MqttEncoder.INSTANCE);
    if (!(packet instanceof MqttPacket.Connect)) {
      channel.writeOutbound(toNetty(greeting(version)));
      channel.releaseOutbound();
    }
    channel.writeOutbound(toNetty(packet));
    io.netty.buffer.ByteBuf written = channel.readOutbound();
    try {
      return ByteBufUtil.getBytes(written);
    } finally {
      written.release();
      channel.finishAndReleaseAll();
    }
  }

  /// The packet as Netty decodes it; empty when it refuses the bytes or needs more of them.
  static Optional<MqttPacket> decode(byte[] bytes, MqttVersion version, boolean connecting) {
    var channel = new EmbeddedChannel(new MqttDecoder(LONGEST, 0xFFFF));
    try {
      if (!connecting) {
        var greeting = new PacketEncoder().encode(greeting(version), version);
        channel.writeInbound(Unpooled.wrappedBuffer(greeting));
        channel.readInbound();
      }
      channel.writeInbound(Unpooled.wrappedBuffer(bytes));
      MqttMessage message = channel.readInbound();
      if (message == null || message.decoderResult().isFailure()) {
        return Optional.empty();
      }
      try {
        return Optional.of(fromNetty(message));
      } finally {
        io.netty.util.ReferenceCountUtil.release(message);
      }
    } finally {
      channel.finishAndReleaseAll();
    }
  }

  /// Whether Netty has a name for each code in this packet of a server; a packet with another code
  /// it refuses.
  static boolean namesAllCodes(MqttPacket packet) {
    return switch (packet) {
      case MqttPacket.ConnAck(_, int code, _) ->
          isNamed(code, number -> MqttConnectReturnCode.valueOf((byte) number));
      case MqttPacket.SubAck(_, List<Integer> codes, _) ->
          codes.stream().allMatch(code -> isNamed(code, number -> SubAck.valueOf((byte) number)));
      case MqttPacket.UnsubAck(_, List<Integer> codes, _) ->
          codes.stream().allMatch(code -> isNamed(code, number -> UnsubAck.valueOf((byte) number)));
      default -> true;
    };
  }

  private static boolean isNamed(int code, IntFunction<Object> names) {
    try {
      return names.apply(code) != null;
    } catch (IllegalArgumentException unknown) {
      return false;
    }
  }

  private static MqttPacket greeting(MqttVersion version) {
    return new MqttPacket.Connect(version, true, 0, "d", null, null, null, MqttProperties.NONE);
  }

  private static MqttPacket fromNetty(MqttMessage message) {
    var fixed = message.fixedHeader();
    return switch (fixed.messageType()) {
      case CONNECT -> connect((MqttConnectMessage) message);
      case CONNACK -> {
        var head = ((MqttConnAckMessage) message).variableHeader();
        yield new MqttPacket.ConnAck(
            head.isSessionPresent(),
            head.connectReturnCode().byteValue() & 0xFF,
            properties(head.properties()));
      }
      case PUBLISH -> {
        var publish = (MqttPublishMessage) message;
        var head = publish.variableHeader();
        yield new MqttPacket.Publish(
            head.topicName(),
            new Binary(ByteBufUtil.getBytes(publish.payload())),
            QoS.of(fixed.qosLevel().value()),
            fixed.isRetain(),
            fixed.isDup(),
            Math.max(0, head.packetId()),
            properties(head.properties()));
      }
      case PUBACK -> new MqttPacket.PubAck(id(message), reason(message), replied(message));
      case PUBREC -> new MqttPacket.PubRec(id(message), reason(message), replied(message));
      case PUBREL -> new MqttPacket.PubRel(id(message), reason(message), replied(message));
      case PUBCOMP -> new MqttPacket.PubComp(id(message), reason(message), replied(message));
      case SUBSCRIBE ->
          new MqttPacket.Subscribe(
              id(message),
              ((MqttSubscribePayload) message.payload())
                  .topicSubscriptions().stream().map(NettyOracle::request).toList(),
              identified(message));
      case SUBACK ->
          new MqttPacket.SubAck(
              id(message),
              ((MqttSubAckPayload) message.payload()).reasonCodes(),
              identified(message));
      case UNSUBSCRIBE ->
          new MqttPacket.Unsubscribe(
              id(message),
              ((MqttUnsubscribePayload) message.payload()).topics(),
              identified(message));
      case UNSUBACK -> {
        var payload = (MqttUnsubAckPayload) message.payload();
        yield new MqttPacket.UnsubAck(
            id(message),
            payload == null
                ? List.of()
                : payload.unsubscribeReasonCodes().stream().map(code -> code & 0xFF).toList(),
            identified(message));
      }
      case PINGREQ -> new MqttPacket.PingReq();
      case PINGRESP -> new MqttPacket.PingResp();
      case DISCONNECT -> {
        var head = (MqttReasonCodeAndPropertiesVariableHeader) message.variableHeader();
        yield new MqttPacket.Disconnect(known(head.reasonCode()), properties(head.properties()));
      }
      case AUTH -> {
        var head = (MqttReasonCodeAndPropertiesVariableHeader) message.variableHeader();
        yield new MqttPacket.Auth(head.reasonCode() & 0xFF, properties(head.properties()));
      }
    };
  }

  private static MqttPacket connect(MqttConnectMessage message) {
    var head = message.variableHeader();
    var payload = message.payload();
    var will =
        head.isWillFlag()
            ? new Will(
                payload.willTopic(),
                new Binary(payload.willMessageInBytes()),
                QoS.of(head.willQos()),
                head.isWillRetain(),
                properties(payload.willProperties()))
            : null;
    return new MqttPacket.Connect(
        head.version() == 5 ? MqttVersion.V5 : MqttVersion.V3_1_1,
        head.isCleanSession(),
        head.keepAliveTimeSeconds(),
        payload.clientIdentifier(),
        payload.userName(),
        payload.passwordInBytes() == null ? null : new Binary(payload.passwordInBytes()),
        will,
        properties(head.properties()));
  }

  private static SubscriptionRequest request(MqttTopicSubscription subscription) {
    var option = subscription.option();
    return new SubscriptionRequest(
        subscription.topicFilter(),
        QoS.of(option.qos().value()),
        option.isNoLocal(),
        option.isRetainAsPublished(),
        option.retainHandling().value());
  }

  private static int id(MqttMessage message) {
    return ((MqttMessageIdVariableHeader) message.variableHeader()).messageId();
  }

  // Netty uses the plain header for 3.1.1, and for MQTT 5 when reason and properties are omitted.
  private static ReasonCode reason(MqttMessage message) {
    return message.variableHeader() instanceof MqttPubReplyMessageVariableHeader reply
        ? known(reply.reasonCode())
        : ReasonCode.SUCCESS;
  }

  private static MqttProperties replied(MqttMessage message) {
    return message.variableHeader() instanceof MqttPubReplyMessageVariableHeader reply
        ? properties(reply.properties())
        : MqttProperties.NONE;
  }

  private static MqttProperties identified(MqttMessage message) {
    return message.variableHeader() instanceof MqttMessageIdAndPropertiesVariableHeader head
        ? properties(head.properties())
        : MqttProperties.NONE;
  }

  private static ReasonCode known(byte code) {
    return ReasonCode.of(code).orElseThrow();
  }

  private static MqttProperties properties(io.netty.handler.codec.mqtt.MqttProperties theirs) {
    var ours = MqttProperties.builder();
    for (MqttProperty<?> property : theirs.listAll()) {
      switch (property) {
        case UserProperties users -> users.value().forEach(pair -> ours.user(pair.key, pair.value));
        case IntegerProperty number ->
            ours.number(id(number), Integer.toUnsignedLong(number.value()));
        case StringProperty text -> ours.text(id(text), text.value());
        case BinaryProperty binary -> ours.binary(id(binary), binary.value());
        default -> throw new AssertionError("unknown property " + property);
      }
    }
    return ours.build();
  }

  private static PropertyId id(MqttProperty<?> property) {
    return PropertyId.of(property.propertyId()).orElseThrow();
  }

  private static MqttMessage toNetty(MqttPacket packet) {
    return switch (packet) {
      case MqttPacket.Connect connect ->
          message(MqttMessageType.CONNECT, connectHead(connect), connectPayload(connect));
      case MqttPacket.ConnAck(var present, var code, var properties) ->
          message(
              MqttMessageType.CONNACK,
              new MqttConnAckVariableHeader(
                  MqttConnectReturnCode.valueOf((byte) code), present, netty(properties)),
              null);
      case MqttPacket.Publish publish ->
          MqttMessageFactory.newMessage(
              new MqttFixedHeader(
                  MqttMessageType.PUBLISH,
                  publish.duplicate(),
                  MqttQoS.valueOf(publish.qos().ordinal()),
                  publish.retain(),
                  0),
              new MqttPublishVariableHeader(
                  publish.topic(), publish.packetId(), netty(publish.properties())),
              Unpooled.wrappedBuffer(publish.payload().bytes()));
      case MqttPacket.PubAck(var id, var reason, var properties) ->
          message(MqttMessageType.PUBACK, reply(id, reason, properties), null);
      case MqttPacket.PubRec(var id, var reason, var properties) ->
          message(MqttMessageType.PUBREC, reply(id, reason, properties), null);
      case MqttPacket.PubRel(var id, var reason, var properties) ->
          message(MqttMessageType.PUBREL, reply(id, reason, properties), null);
      case MqttPacket.PubComp(var id, var reason, var properties) ->
          message(MqttMessageType.PUBCOMP, reply(id, reason, properties), null);
      case MqttPacket.Subscribe(var id, var requests, var properties) ->
          message(
              MqttMessageType.SUBSCRIBE,
              identified(id, properties),
              new MqttSubscribePayload(requests.stream().map(NettyOracle::netty).toList()));
      case MqttPacket.SubAck(var id, var codes, var properties) ->
          message(MqttMessageType.SUBACK, identified(id, properties), new MqttSubAckPayload(codes));
      case MqttPacket.Unsubscribe(var id, var filters, var properties) ->
          message(
              MqttMessageType.UNSUBSCRIBE,
              identified(id, properties),
              new MqttUnsubscribePayload(filters));
      case MqttPacket.UnsubAck(var id, var codes, var properties) ->
          message(
              MqttMessageType.UNSUBACK,
              identified(id, properties),
              new MqttUnsubAckPayload(codes.stream().map(Integer::shortValue).toList()));
      case MqttPacket.PingReq() -> message(MqttMessageType.PINGREQ, null, null);
      case MqttPacket.PingResp() -> message(MqttMessageType.PINGRESP, null, null);
      case MqttPacket.Disconnect(var reason, var properties) ->
          message(MqttMessageType.DISCONNECT, reasoned(reason.code(), properties), null);
      case MqttPacket.Auth(var code, var properties) ->
          message(MqttMessageType.AUTH, reasoned(code, properties), null);
    };
  }

  private static MqttMessage message(
      MqttMessageType type,
      @org.jspecify.annotations.Nullable Object head,
      @org.jspecify.annotations.Nullable Object payload) {
    boolean asks =
        type == MqttMessageType.SUBSCRIBE
            || type == MqttMessageType.UNSUBSCRIBE
            || type == MqttMessageType.PUBREL;
    var qos = asks ? MqttQoS.AT_LEAST_ONCE : MqttQoS.AT_MOST_ONCE;
    return MqttMessageFactory.newMessage(
        new MqttFixedHeader(type, false, qos, false, 0), head, payload);
  }

  private static MqttConnectVariableHeader connectHead(MqttPacket.Connect connect) {
    var will = connect.will();
    return new MqttConnectVariableHeader(
        "MQTT",
        connect.version().level(),
        connect.userName() != null,
        connect.password() != null,
        will != null && will.retain(),
        will == null ? 0 : will.qos().ordinal(),
        will != null,
        connect.cleanStart(),
        connect.keepAliveSeconds(),
        netty(connect.properties()));
  }

  private static MqttConnectPayload connectPayload(MqttPacket.Connect connect) {
    var will = connect.will();
    var password = connect.password();
    return new MqttConnectPayload(
        connect.clientId(),
        will == null
            ? io.netty.handler.codec.mqtt.MqttProperties.NO_PROPERTIES
            : netty(will.properties()),
        will == null ? null : will.topic(),
        will == null ? null : will.payload().bytes(),
        connect.userName(),
        password == null ? null : password.bytes());
  }

  private static MqttTopicSubscription netty(SubscriptionRequest request) {
    return new MqttTopicSubscription(
        request.filter(),
        new MqttSubscriptionOption(
            MqttQoS.valueOf(request.qos().ordinal()),
            request.noLocal(),
            request.retainAsPublished(),
            RetainedHandlingPolicy.valueOf(request.retainHandling())));
  }

  private static MqttMessageIdVariableHeader identified(int id, MqttProperties properties) {
    return new MqttMessageIdAndPropertiesVariableHeader(id, netty(properties));
  }

  private static MqttPubReplyMessageVariableHeader reply(
      int id, ReasonCode reason, MqttProperties properties) {
    return new MqttPubReplyMessageVariableHeader(id, (byte) reason.code(), netty(properties));
  }

  private static MqttReasonCodeAndPropertiesVariableHeader reasoned(
      int code, MqttProperties properties) {
    return new MqttReasonCodeAndPropertiesVariableHeader((byte) code, netty(properties));
  }

  private static io.netty.handler.codec.mqtt.MqttProperties netty(MqttProperties ours) {
    var theirs = new io.netty.handler.codec.mqtt.MqttProperties();
    ours.numbers()
        .forEach((id, value) -> theirs.add(new IntegerProperty(id.code(), value.intValue())));
    ours.texts().forEach((id, value) -> theirs.add(new StringProperty(id.code(), value)));
    ours.binaries()
        .forEach((id, value) -> theirs.add(new BinaryProperty(id.code(), value.bytes())));
    if (!ours.userProperties().isEmpty()) {
      var pairs =
          ours.userProperties().stream()
              .map(user -> new StringPair(user.name(), user.value()))
              .toList();
      theirs.add(new UserProperties(pairs));
    }
    return theirs;
  }
}
