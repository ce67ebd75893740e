package io.pushplanet.cm.uplink;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket.Publish;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.UserProperty;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.uplink.UplinkOutcome.Refused;
import io.pushplanet.cm.uplink.UplinkOutcome.Taken;
import io.pushplanet.cm.uplink.UplinkOutcome.Violation;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.WireForm;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/// Makes events of the receipts and uplinks that devices publish. Thread-safe; does not block.
public final class Uplinks {
  public static final String RECEIPTS = "push/receipts";
  public static final String UPLINK = "push/uplink";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Events events;
  private final int mostBytes;
  private final int mostUnacknowledged;

  /// How many QoS 0 events of each device wait for the broker, over all of its connections.
  private final Map<DeviceKey, Integer> unacknowledged = new ConcurrentHashMap<>();

  private final InstantSource clock;
  private final RandomGenerator random;
  private final UplinkMetrics metrics;

  /// @param mostBytes of one uplink
  /// @param mostUnacknowledged how many QoS 0 events of one device may wait for the broker
  public Uplinks(
      Events events,
      int mostBytes,
      int mostUnacknowledged,
      InstantSource clock,
      RandomGenerator random,
      UplinkMetrics metrics) {
    this.events = events;
    this.mostBytes = mostBytes;
    this.mostUnacknowledged = mostUnacknowledged;
    this.clock = clock;
    this.random = random;
    this.metrics = metrics;
  }

  /// @param confirmed runs when the broker has the event, on another thread
  public UplinkOutcome take(DeviceKey device, Publish publish, Runnable confirmed) {
    if (publish.properties().has(PropertyId.TOPIC_ALIAS)) {
      return new Violation(ReasonCode.TOPIC_ALIAS_INVALID, "Topic Alias Maximum is 0");
    }
    if (publish.properties().has(PropertyId.SUBSCRIPTION_IDENTIFIER)) {
      return new Violation(
          ReasonCode.PROTOCOL_ERROR, "only a server's PUBLISH has a subscription identifier");
    }
    if (publish.retain()) {
      return new Violation(ReasonCode.RETAIN_NOT_SUPPORTED, "nothing is retained here");
    }
    if (publish.qos() == QoS.EXACTLY_ONCE) {
      return new Violation(ReasonCode.QOS_NOT_SUPPORTED, "publish with QoS 0 or 1");
    }
    if (publish.payload().size() > mostBytes) {
      return new Violation(ReasonCode.PACKET_TOO_LARGE, "at most " + mostBytes + " bytes");
    }
    if (publish.qos() != QoS.AT_MOST_ONCE) {
      return event(device, publish, confirmed);
    }
    if (unacknowledged.merge(device, 1, Integer::sum) > mostUnacknowledged) {
      leave(device);
      return new Refused(ReasonCode.QUOTA_EXCEEDED, "its former connection left too many events");
    }
    UplinkOutcome outcome =
        event(
            device,
            publish,
            () -> {
              leave(device);
              confirmed.run();
            });
    if (!(outcome instanceof Taken)) {
      leave(device);
    }
    return outcome;
  }

  private void leave(DeviceKey device) {
    unacknowledged.computeIfPresent(device, (_, open) -> open == 1 ? null : open - 1);
  }

  private UplinkOutcome event(DeviceKey device, Publish publish, Runnable confirmed) {
    return switch (publish.topic()) {
      case RECEIPTS -> receipt(device, publish.payload(), confirmed);
      case UPLINK -> {
        metrics.uplinks.increment();
        yield tell(uplink(device, publish.payload(), publish.properties()), confirmed);
      }
      default ->
          new Refused(
              ReasonCode.NOT_AUTHORIZED, "devices publish to " + RECEIPTS + " and " + UPLINK);
    };
  }

  /// The connection ended without DISCONNECT, so no client waits for an answer. While the broker is
  /// away the will is retried, unless the limit of unconfirmed events (`cm.uplink.max-open`) is
  /// reached: then it is dropped.
  public void will(DeviceKey device, Will will) {
    metrics.wills.increment();
    if (!events.tell(uplink(device, will.payload(), will.properties()), () -> {})) {
      metrics.droppedWills.increment();
    }
  }

  private UplinkOutcome receipt(DeviceKey device, Binary payload, Runnable confirmed) {
    try {
      JsonNode json = JSON.readTree(payload.bytes());
      String id = json.path("id").asString("");
      String event = json.path("event").asString("");
      if (MessageId.isValid(id) && (event.equals("displayed") || event.equals("opened"))) {
        metrics.receipts.increment();
        var kind = DeliveryEvent.Receipt.Kind.valueOf(event.toUpperCase(Locale.ROOT));
        return tell(
            new DeliveryEvent.Receipt(
                device.app(), clock.instant(), new MessageId(id), device.device(), kind),
            confirmed);
      }
    } catch (JacksonException notJson) {
      // Reported below, with the same words as JSON of another shape.
    }
    return new Refused(
        ReasonCode.PAYLOAD_FORMAT_INVALID,
        "a receipt is {\"id\":\"<message id>\",\"event\":\"displayed|opened\"}");
  }

  private DeliveryEvent uplink(DeviceKey device, Binary payload, MqttProperties properties) {
    return new DeliveryEvent.Uplink(
        device.app(),
        clock.instant(),
        device.device(),
        randomUuid().toString(),
        payload.bytes(),
        pairs(properties.userProperties()));
  }

  /// The decoder bounds their number and bytes
  /// ([io.pushplanet.cm.mqtt.codec.PacketLimits]).
  private static @Nullable Json pairs(List<UserProperty> properties) {
    if (properties.isEmpty()) {
      return null;
    }
    ArrayNode pairs = JSON.createArrayNode();
    for (UserProperty property : properties) {
      pairs.addArray().add(property.name()).add(property.value());
    }
    return WireForm.json(pairs);
  }

  /// A random UUID (version 4, RFC 9562), from the injected generator.
  private UUID randomUuid() {
    return new UUID(
        (random.nextLong() & ~0xF000L) | 0x4000L, (random.nextLong() >>> 2) | (1L << 63));
  }

  private UplinkOutcome tell(DeliveryEvent event, Runnable confirmed) {
    return events.tell(event, confirmed)
        ? new Taken()
        : new Refused(ReasonCode.QUOTA_EXCEEDED, "too many events wait for the broker");
  }
}
