package io.pushplanet.common.delivery;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An event in the life of a message. The processes publish events to `push.accepted` and
/// `push.events`, and the statistics role writes them to MySQL. Every event may arrive twice and in
/// any order; the writer makes that harmless.
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(value = DeliveryEvent.Accepted.class, name = "accepted"),
  @JsonSubTypes.Type(value = DeliveryEvent.Expanded.class, name = "expanded"),
  @JsonSubTypes.Type(value = DeliveryEvent.Attempted.class, name = "attempted"),
  @JsonSubTypes.Type(value = DeliveryEvent.Ended.class, name = "ended"),
  @JsonSubTypes.Type(value = DeliveryEvent.Receipt.class, name = "receipt"),
  @JsonSubTypes.Type(value = DeliveryEvent.Uplink.class, name = "uplink")
})
public sealed interface DeliveryEvent {
  AppId app();

  Instant at();

  /// A message was accepted. `recipients` are those resolved at once; `expanded` is false when the
  /// fan-out role will find more.
  ///
  /// @param audience the part of the [io.pushplanet.common.message.target.Audience] that the
  ///     message's row keeps; `content` and `delivery` likewise
  /// @param estimate roughly how many recipients the message has; null when `recipients` are all
  record Accepted(
      AppId app,
      Instant at,
      MessageId message,
      Instant expiresAt,
      Json audience,
      Json content,
      Json delivery,
      List<DeviceId> recipients,
      boolean expanded,
      @Nullable Integer estimate)
      implements DeliveryEvent {
    public Accepted {
      recipients = List.copyOf(recipients);
    }
  }

  /// The fan-out role found recipients. `last` means that there are no more.
  record Expanded(AppId app, Instant at, MessageId message, List<DeviceId> recipients, boolean last)
      implements DeliveryEvent {
    public Expanded {
      recipients = List.copyOf(recipients);
    }
  }

  /// An attempt that did not end the delivery: it stays queued.
  record Attempted(AppId app, Instant at, MessageId message, DeviceId device, Attempt attempt)
      implements DeliveryEvent {}

  /// The delivery reached a final state. Two `delivered` with different attempts count as a
  /// duplicate.
  record Ended(
      AppId app,
      Instant at,
      MessageId message,
      DeviceId device,
      DeliveryState state,
      Attempt attempt)
      implements DeliveryEvent {
    public Ended {
      if (state == DeliveryState.QUEUED) {
        throw new IllegalArgumentException("queued is not an end");
      }
    }
  }

  /// A later report of the device about a message.
  ///
  /// @param firstSeen when the statistics role first looked for its delivery and found none; null
  ///     before
  record Receipt(
      AppId app,
      Instant at,
      MessageId message,
      DeviceId device,
      Kind kind,
      @Nullable Instant firstSeen)
      implements DeliveryEvent {
    public Receipt(AppId app, Instant at, MessageId message, DeviceId device, Kind kind) {
      this(app, at, message, device, kind, null);
    }

    public enum Kind {
      @JsonProperty("displayed")
      DISPLAYED,
      @JsonProperty("opened")
      OPENED
    }
  }

  /// A payload that a device published for its app's backend, or its will. `id` (a UUID) identifies
  /// repeats; at most 4 KB.
  ///
  /// @param userProperties the packet's MQTT 5 user properties: a JSON array of `[name, value]`
  ///     pairs in the packet's order, in which a name may repeat; null for none
  record Uplink(
      AppId app,
      Instant at,
      DeviceId device,
      String id,
      byte[] payload,
      @Nullable Json userProperties)
      implements DeliveryEvent {
    public Uplink(AppId app, Instant at, DeviceId device, String id, byte[] payload) {
      this(app, at, device, id, payload, null);
    }
  }
}
