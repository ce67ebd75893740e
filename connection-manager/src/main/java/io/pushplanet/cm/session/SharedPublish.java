package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.common.message.MessageId;
import org.jspecify.annotations.Nullable;

/// A message for many devices. Its PUBLISH is encoded once for all devices with the same shape
/// (version, QoS, subscription identifier, seconds left); each further device costs one copy with
/// its own packet id. Thread-safe: loops share the encoded form, and at worst encode it twice.
public final class SharedPublish {
  private static final int SHAPES = 4;
  private static final int ID_IN_SHAPE = 1;

  private final MessageId id;
  private final Binary payload;
  private final long expiresAtMillis;
  private final @Nullable Encoded[] encoded = new Encoded[SHAPES];

  private record Encoded(boolean v5, Subscription shape, long leftSeconds, byte[] bytes) {
    boolean fits(boolean forV5, Subscription wanted, long left) {
      return v5 == forV5 && shape.equals(wanted) && (!v5 || leftSeconds == left);
    }
  }

  /// @param payload must not change
  public SharedPublish(MessageId id, Binary payload, long expiresAtMillis) {
    this.id = id;
    this.payload = payload;
    this.expiresAtMillis = expiresAtMillis;
  }

  public MessageId id() {
    return id;
  }

  public Binary payload() {
    return payload;
  }

  public long expiresAtMillis() {
    return expiresAtMillis;
  }

  /// The bytes of the PUBLISH for this link. At QoS 0 they are shared and must not be changed.
  ///
  /// @param packetId 0 at QoS 0
  byte[] encodedFor(
      Link link, Subscription subscription, int packetId, boolean duplicate, long nowMillis) {
    byte[] bytes = encoded(link, subscription, nowMillis);
    return packetId == 0 ? bytes : PacketEncoder.copyOfPublish(bytes, packetId, duplicate);
  }

  private byte[] encoded(Link link, Subscription subscription, long nowMillis) {
    boolean v5 = link.isV5();
    long left = Math.min(Math.max(1, (expiresAtMillis - nowMillis) / 1_000), 0xFFFF_FFFFL);
    int free = 0;
    for (int shape = 0; shape < SHAPES; shape++) {
      Encoded known = encoded[shape];
      if (known == null || (known.v5 && known.leftSeconds != left)) {
        free = shape;
      } else if (known.fits(v5, subscription, left)) {
        return known.bytes;
      }
    }
    boolean acknowledged = subscription.qos() != QoS.AT_MOST_ONCE;
    byte[] bytes =
        link.encode(
            new MqttPacket.Publish(
                DeviceSession.TOPIC,
                payload,
                acknowledged ? QoS.AT_LEAST_ONCE : QoS.AT_MOST_ONCE,
                false,
                false,
                acknowledged ? ID_IN_SHAPE : 0,
                v5 ? properties(subscription, left) : MqttProperties.NONE));
    encoded[free] = new Encoded(v5, subscription, left, bytes);
    return bytes;
  }

  private MqttProperties properties(Subscription subscription, long leftSeconds) {
    MqttProperties.Builder properties =
        MqttProperties.builder()
            .number(PropertyId.MESSAGE_EXPIRY_INTERVAL, leftSeconds)
            .user("id", id.value());
    if (subscription.identifier() > 0) {
      properties.number(PropertyId.SUBSCRIPTION_IDENTIFIER, subscription.identifier());
    }
    return properties.build();
  }
}
