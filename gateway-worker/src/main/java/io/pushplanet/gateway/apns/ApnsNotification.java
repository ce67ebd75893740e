package io.pushplanet.gateway.apns;

import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.provider.CollapseId;
import io.pushplanet.gateway.provider.RecentPayloads;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A message in APNs' format
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
record ApnsNotification(List<Field> headers, byte[] payload) {
  private static final JsonMapper JSON = WireForm.mapper();

  /// @param type of the token; a Live Activity has a token of its own
  static ApnsNotification of(
      Push push,
      DeviceId device,
      ApnsPushType type,
      String bundleId,
      RecentPayloads<ApnsPayload.MadeOf, ApnsPayload> payloads) {
    LiveActivity activity = push.overrides().liveActivity();
    return activity == null
        ? notification(push, device, type, bundleId, ApnsPayload.of(push, type, payloads))
        : liveActivity(push, activity, device, bundleId);
  }

  /// https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications
  private static ApnsNotification liveActivity(
      Push push, LiveActivity activity, DeviceId device, String bundleId) {
    ObjectNode aps = JSON.createObjectNode();
    // Apple drops an update that is older than the one shown.
    aps.put("timestamp", push.acceptedAt().getEpochSecond());
    aps.put("event", activity.event().name().toLowerCase(Locale.ROOT));
    aps.set("content-state", activity.contentState());
    ApnsPayload.putIfPresent(aps, "attributes-type", activity.attributesType());
    if (activity.attributes() != null) {
      aps.set("attributes", activity.attributes());
    }
    putIfPresent(aps, "stale-date", activity.staleAt());
    putIfPresent(aps, "dismissal-date", activity.dismissAt());
    if (activity.relevance() != null) {
      aps.put("relevance-score", activity.relevance());
    }
    ApnsPayload.putAlert(aps, push.content());
    ApnsPayload.merge(push, aps);
    String id = id(push.id(), device);
    BroadcastChannel channel = activity.channel();
    List<Field> headers = new ArrayList<>();
    if (channel == null) {
      headers.add(Field.of("apns-id", id));
      headers.add(Field.of("apns-topic", bundleId + ".push-type.liveactivity"));
    } else {
      headers.add(Field.of("apns-request-id", id));
      headers.add(Field.of("apns-channel-id", channel.id()));
    }
    headers.add(Field.of("apns-push-type", "liveactivity"));
    // A channel that keeps no message accepts only the expiration 0.
    boolean kept = channel == null || channel.keepsNewest();
    headers.add(Field.of("apns-expiration", kept ? expiration(push) : "0"));
    // Apple names only these two priorities for activities.
    headers.add(Field.of("apns-priority", push.delivery().urgency() == Urgency.HIGH ? "10" : "5"));
    return new ApnsNotification(
        headers, JSON.writeValueAsBytes(JSON.createObjectNode().set(ApnsPayload.APS, aps)));
  }

  static int largestBytes(Push push, ApnsPushType type) {
    LiveActivity activity = push.overrides().liveActivity();
    return activity == null || activity.channel() == null
        ? type.largestPayloadBytes()
        : BroadcastChannel.LARGEST_PAYLOAD_BYTES;
  }

  private static void putIfPresent(ObjectNode object, String field, @Nullable Instant time) {
    if (time != null) {
      object.put(field, time.getEpochSecond());
    }
  }

  private static ApnsNotification notification(
      Push push, DeviceId device, ApnsPushType type, String bundleId, ApnsPayload payload) {
    boolean background = payload.background();
    List<Field> headers = new ArrayList<>();
    headers.add(Field.of("apns-id", id(push.id(), device)));
    headers.add(Field.of("apns-topic", type.topic(bundleId)));
    headers.add(Field.of("apns-push-type", background ? "background" : type.word()));
    headers.add(Field.of("apns-expiration", expiration(push)));
    // "Specify 10 ... it's an error to use this priority for a background notification"
    headers.add(
        Field.of("apns-priority", background ? "5" : push.delivery().urgency().apnsPriority()));
    headers.add(Field.of("apns-collapse-id", CollapseId.of(push)));
    return new ApnsNotification(headers, payload.json());
  }

  /// The same for each try of one message to one device: a UUID of version 5's kind (RFC 9562,
  /// section 5.5).
  static String id(MessageId message, DeviceId device) {
    byte[] digest = Sha256.of(message.value() + "/" + device.value());
    digest[6] = (byte) ((digest[6] & 0x0f) | 0x80);
    digest[8] = (byte) ((digest[8] & 0x3f) | 0x80);
    long high = 0;
    long low = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      high = (high << Byte.SIZE) | (digest[i] & 0xff);
      low = (low << Byte.SIZE) | (digest[i + Long.BYTES] & 0xff);
    }
    return new UUID(high, low).toString();
  }

  private static String expiration(Push push) {
    return push.delivery().ttl().isZero() ? "0" : Long.toString(push.expiresAt().getEpochSecond());
  }

  /// `aps` belongs to Apple.
  static boolean usesReservedKey(Content content) {
    return content.data().containsKey(ApnsPayload.APS);
  }
}
