package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Measures the payload that the worker would write for each channel, in bytes, before the message
/// has an id. Where the worker decides something later, the measure takes the longest form.
/// `PayloadSample` holds both to the same bytes in their tests.
final class PayloadMeasure {
  /// As long as every other id.
  private static final MessageId AN_ID = new MessageId("00000000-0000-7000-8000-000000000000");

  /// With milliseconds, which are left out where they are zero.
  private static final Instant A_TIME = Instant.parse("2026-11-21T10:00:00.001Z");

  private static final String CONTENT_AVAILABLE = "content-available";
  private static final JsonMapper JSON = WireForm.mapper();

  private PayloadMeasure() {}

  /// @param type `ALERT`, or `VOIP` for a call
  static int apns(SendRequest request, ApnsPushType type) {
    ObjectNode payload = JSON.createObjectNode();
    ObjectNode aps = payload.putObject("aps");
    putAlert(aps, request.content());
    ObjectNode overrides = request.overrides().apns();
    boolean given = overrides != null && overrides.has(CONTENT_AVAILABLE);
    if (type == ApnsPushType.ALERT && aps.isEmpty() && !given) {
      aps.put(CONTENT_AVAILABLE, 1);
    }
    putData(payload, request.content());
    return bytes(payload) + merged(overrides);
  }

  /// A lower bound: an object of the overrides is counted instead of the one of the same name,
  /// while the worker merges the two. So no activity is refused that would fit.
  static int liveActivity(SendRequest request, LiveActivity activity) {
    ObjectNode payload = JSON.createObjectNode();
    ObjectNode aps = payload.putObject("aps");
    aps.put("timestamp", A_TIME.getEpochSecond());
    aps.put("event", activity.event().name().toLowerCase(Locale.ROOT));
    aps.set("content-state", activity.contentState());
    if (activity.attributesType() != null) {
      aps.put("attributes-type", activity.attributesType());
    }
    if (activity.attributes() != null) {
      aps.set("attributes", activity.attributes());
    }
    if (activity.staleAt() != null) {
      aps.put("stale-date", activity.staleAt().getEpochSecond());
    }
    if (activity.dismissAt() != null) {
      aps.put("dismissal-date", activity.dismissAt().getEpochSecond());
    }
    if (activity.relevance() != null) {
      aps.put("relevance-score", activity.relevance());
    }
    putAlert(aps, request.content());
    if (request.overrides().apns() != null) {
      aps.setAll(request.overrides().apns());
    }
    return bytes(payload);
  }

  /// The parts that FCM counts: `notification` and `data`, and what the caller overrides.
  static int fcm(SendRequest request) {
    ObjectNode message = JSON.createObjectNode();
    if (isShown(request.content())) {
      put(message.putObject("notification"), request.content());
    }
    putData(message.putObject("data"), request.content());
    return bytes(message) + merged(request.overrides().fcm());
  }

  static int mqtt(SendRequest request) {
    Content content = request.content();
    DevicePayload payload =
        new DevicePayload(
            AN_ID,
            content.title(),
            content.body(),
            content.data(),
            A_TIME,
            request.delivery().collapseKey());
    return WireForm.write(payload).length;
  }

  /// The service worker gets the payload that a device gets over MQTT.
  static int webPush(SendRequest request) {
    return mqtt(request) + merged(request.overrides().webpush());
  }

  /// Without tokens. `data` is a text with JSON in it.
  static int hms(SendRequest request) {
    Content content = request.content();
    String collapseKey = request.delivery().collapseKey();
    ObjectNode body = JSON.createObjectNode();
    ObjectNode message = body.putObject("message");
    ObjectNode data = JSON.createObjectNode();
    putData(data, content);
    message.put("data", JSON.writeValueAsString(data));
    ObjectNode android = message.putObject("android");
    android.put("bi_tag", AN_ID.value()).put("ttl", "1296000s").put("urgency", "NORMAL");
    android.put("collapse_key", 100);
    String shown = content.title() == null ? content.body() : content.title();
    if (shown != null) {
      message
          .putObject("notification")
          .put("title", shown)
          .put("body", content.body() == null ? shown : content.body());
      ObjectNode notification = android.putObject("notification");
      notification.put("tag", collapseKey == null ? AN_ID.value() : collapseKey);
      notification.putObject("click_action").put("type", 3);
    }
    message.putArray("token");
    return bytes(body) + merged(request.overrides().hms());
  }

  /// The most that merging these overrides adds: their fields and a comma, without the braces.
  static int merged(@Nullable ObjectNode overrides) {
    return overrides == null || overrides.isEmpty() ? 0 : bytes(overrides) - 1;
  }

  private static int bytes(ObjectNode node) {
    return JSON.writeValueAsBytes(node).length;
  }

  private static void putAlert(ObjectNode aps, Content content) {
    if (isShown(content)) {
      put(aps.putObject("alert"), content);
    }
  }

  private static boolean isShown(Content content) {
    return content.title() != null || content.body() != null;
  }

  private static void put(ObjectNode node, Content content) {
    if (content.title() != null) {
      node.put("title", content.title());
    }
    if (content.body() != null) {
      node.put("body", content.body());
    }
  }

  private static void putData(ObjectNode node, Content content) {
    content.data().forEach(node::put);
    node.put(content.idField(), AN_ID.value());
  }
}
