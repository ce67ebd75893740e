package io.pushplanet.cm.mqtt;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// One MQTT control packet of either version. Lists are copied; payloads are not.
public sealed interface MqttPacket {

  /// The client's first packet. `toString` never shows the password.
  record Connect(
      MqttVersion version,
      boolean cleanStart,
      int keepAliveSeconds,
      String clientId,
      @Nullable String userName,
      @Nullable Binary password,
      @Nullable Will will,
      MqttProperties properties)
      implements MqttPacket {

    @Override
    public String toString() {
      return "Connect[version=%s, cleanStart=%s, keepAliveSeconds=%d, clientId=%s, userName=%s, password=%s]"
          .formatted(
              version,
              cleanStart,
              keepAliveSeconds,
              clientId,
              userName,
              password == null ? "none" : "***");
    }
  }

  /// `code` is a reason code in MQTT 5 and a return code in 3.1.1.
  record ConnAck(boolean sessionPresent, int code, MqttProperties properties)
      implements MqttPacket {}

  /// `packetId` is 0 at QoS 0.
  record Publish(
      String topic,
      Binary payload,
      QoS qos,
      boolean retain,
      boolean duplicate,
      int packetId,
      MqttProperties properties)
      implements MqttPacket {}

  record PubAck(int packetId, ReasonCode reason, MqttProperties properties) implements MqttPacket {
    public PubAck(int packetId, ReasonCode reason) {
      this(packetId, reason, MqttProperties.NONE);
    }
  }

  record PubRec(int packetId, ReasonCode reason, MqttProperties properties) implements MqttPacket {}

  record PubRel(int packetId, ReasonCode reason, MqttProperties properties) implements MqttPacket {}

  record PubComp(int packetId, ReasonCode reason, MqttProperties properties)
      implements MqttPacket {}

  record Subscribe(int packetId, List<SubscriptionRequest> requests, MqttProperties properties)
      implements MqttPacket {
    public Subscribe {
      requests = List.copyOf(requests);
    }
  }

  /// `codes` are reason codes in MQTT 5; in 3.1.1 the granted QoS or 0x80.
  record SubAck(int packetId, List<Integer> codes, MqttProperties properties)
      implements MqttPacket {
    public SubAck {
      codes = List.copyOf(codes);
    }
  }

  record Unsubscribe(int packetId, List<String> filters, MqttProperties properties)
      implements MqttPacket {
    public Unsubscribe {
      filters = List.copyOf(filters);
    }
  }

  /// `codes` is empty in 3.1.1.
  record UnsubAck(int packetId, List<Integer> codes, MqttProperties properties)
      implements MqttPacket {
    public UnsubAck {
      codes = List.copyOf(codes);
    }
  }

  record PingReq() implements MqttPacket {}

  record PingResp() implements MqttPacket {}

  record Disconnect(ReasonCode reason, MqttProperties properties) implements MqttPacket {}

  record Auth(int code, MqttProperties properties) implements MqttPacket {}
}
