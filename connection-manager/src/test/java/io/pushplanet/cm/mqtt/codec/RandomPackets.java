package io.pushplanet.cm.mqtt.codec;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Valid packets of either version and direction, within the limits of an unauthenticated peer.
final class RandomPackets {
  private static final String[] SNIPPETS = {
    "a", "Z9", "push", "/", " ", "grüß", "\uFEFF", "漢字", "🚀", "\u007F", "\uFFFF", "$share"
  };
  private static final int[] CONNACK_V3 = {0, 1, 2, 3, 4, 5};

  // Tables 3-1, 3-8 and 3-9 of MQTT 5; the codes of 3.1.1's SUBACK are in its section 3.9.3.
  private static final int[] CONNACK_V5 = {
    0, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8C, 0x90, 0x95, 0x97,
    0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F
  };
  private static final int[] SUBACK_V5 = {
    0, 1, 2, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2
  };
  private static final int[] SUBACK_V3 = {0, 1, 2, 0x80};
  private static final int[] UNSUBACK_V5 = {0, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91};

  private final Random random;

  RandomPackets(Random random) {
    this.random = random;
  }

  MqttPacket next(MqttVersion version) {
    boolean v5 = version == MqttVersion.V5;
    return switch (random.nextInt(v5 ? 15 : 14)) {
      case 0 -> connect(version);
      case 1 ->
          new MqttPacket.ConnAck(
              random.nextBoolean(),
              v5 ? oneOf(CONNACK_V5) : oneOf(CONNACK_V3),
              properties(v5, Place.CONNACK));
      case 2 -> publish(v5);
      case 3 -> new MqttPacket.PubAck(packetId(), reason(v5), properties(v5, Place.ACK));
      case 4 -> new MqttPacket.PubRec(packetId(), reason(v5), properties(v5, Place.ACK));
      case 5 -> new MqttPacket.PubRel(packetId(), reason(v5), properties(v5, Place.ACK));
      case 6 -> new MqttPacket.PubComp(packetId(), reason(v5), properties(v5, Place.ACK));
      case 7 ->
          new MqttPacket.Subscribe(
              packetId(), some(() -> request(v5)), properties(v5, Place.SUBSCRIBE));
      case 8 ->
          new MqttPacket.SubAck(
              packetId(),
              some(() -> oneOf(v5 ? SUBACK_V5 : SUBACK_V3)),
              properties(v5, Place.SUBACK));
      case 9 ->
          new MqttPacket.Unsubscribe(
              packetId(), some(this::filter), properties(v5, Place.UNSUBSCRIBE));
      case 10 ->
          new MqttPacket.UnsubAck(
              packetId(),
              v5 ? some(() -> oneOf(UNSUBACK_V5)) : List.of(),
              properties(v5, Place.UNSUBACK));
      case 11 -> new MqttPacket.PingReq();
      case 12 -> new MqttPacket.PingResp();
      case 13 -> new MqttPacket.Disconnect(reason(v5), properties(v5, Place.DISCONNECT));
      default ->
          new MqttPacket.Auth(random.nextBoolean() ? 0x18 : 0x19, properties(v5, Place.AUTH));
    };
  }

  private MqttPacket connect(MqttVersion version) {
    boolean v5 = version == MqttVersion.V5;
    var name = random.nextBoolean() ? text(20) : null;
    // MQTT 5 also allows a password without a name; Netty's encoder does not know that.
    Binary password = name != null && random.nextBoolean() ? bytes(40) : null;
    return new MqttPacket.Connect(
        version,
        random.nextBoolean(),
        random.nextInt(0x10000),
        text(10),
        name,
        password,
        random.nextBoolean() ? will(v5) : null,
        properties(v5, Place.CONNECT));
  }

  private Will will(boolean v5) {
    return new Will(topic(), bytes(100), qos(), random.nextBoolean(), properties(v5, Place.WILL));
  }

  private MqttPacket publish(boolean v5) {
    var qos = qos();
    return new MqttPacket.Publish(
        topic(),
        bytes(random.nextInt(10) == 0 ? 3_000 : 60),
        qos,
        random.nextBoolean(),
        qos != QoS.AT_MOST_ONCE && random.nextBoolean(),
        qos == QoS.AT_MOST_ONCE ? 0 : packetId(),
        properties(v5, Place.PUBLISH));
  }

  private SubscriptionRequest request(boolean v5) {
    var filter = filter();
    return new SubscriptionRequest(
        filter,
        qos(),
        v5 && !filter.startsWith("$share/") && random.nextBoolean(),
        v5 && random.nextBoolean(),
        v5 ? random.nextInt(3) : 0);
  }

  private MqttProperties properties(boolean v5, Place place) {
    if (!v5 || random.nextBoolean()) {
      return MqttProperties.NONE;
    }
    var made = MqttProperties.builder();
    for (var property : PropertyId.values()) {
      if (property.mayStandIn(place) && random.nextInt(3) == 0) {
        add(property, made);
      }
    }
    if (made.has(PropertyId.AUTHENTICATION_DATA)) {
      made.text(PropertyId.AUTHENTICATION_METHOD, "SCRAM-SHA-1");
    }
    return made.build();
  }

  private void add(PropertyId property, MqttProperties.Builder into) {
    switch (property.form()) {
      case BYTE -> into.number(property, random.nextInt(2));
      case SHORT -> into.number(property, 1 + random.nextInt(0xFFFF));
      case INT -> into.number(property, 1 + random.nextLong(0xFFFF_FFFFL));
      case VARINT -> into.number(property, 1 + random.nextInt(1 << random.nextInt(28)));
      case TEXT -> into.text(property, property == PropertyId.RESPONSE_TOPIC ? topic() : text(30));
      case BINARY -> into.binary(property, bytes(30).bytes());
      case TEXT_PAIR -> {
        for (int count = random.nextInt(4); count >= 0; count--) {
          into.user(text(8), text(8));
        }
      }
    }
  }

  private <T> List<T> some(Supplier<T> one) {
    var made = new ArrayList<T>();
    for (int count = random.nextInt(5); count >= 0; count--) {
      made.add(one.get());
    }
    return made;
  }

  private ReasonCode reason(boolean v5) {
    var reasons = ReasonCode.values();
    return v5 && random.nextBoolean()
        ? reasons[random.nextInt(reasons.length)]
        : ReasonCode.SUCCESS;
  }

  private String topic() {
    return "t" + text(4);
  }

  private @Nullable String wildcard() {
    return switch (random.nextInt(6)) {
      case 0 -> "#";
      case 1 -> "+/x";
      case 2 -> "$share/group/x";
      default -> null;
    };
  }

  private String filter() {
    var wildcard = wildcard();
    return wildcard == null ? topic() : wildcard;
  }

  private String text(int mostSnippets) {
    var made = new StringBuilder();
    for (int count = random.nextInt(mostSnippets + 1); count > 0; count--) {
      made.append(SNIPPETS[random.nextInt(SNIPPETS.length)]);
    }
    return made.toString();
  }

  private Binary bytes(int most) {
    var made = new byte[random.nextInt(most + 1)];
    random.nextBytes(made);
    return new Binary(made);
  }

  private QoS qos() {
    return QoS.of(random.nextInt(3));
  }

  private int packetId() {
    return 1 + random.nextInt(0xFFFF);
  }

  private int oneOf(int[] values) {
    return values[random.nextInt(values.length)];
  }
}
