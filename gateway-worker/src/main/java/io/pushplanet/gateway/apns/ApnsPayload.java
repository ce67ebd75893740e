package io.pushplanet.gateway.apns;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.provider.JsonMerge;
import io.pushplanet.gateway.provider.RecentPayloads;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The payload that all devices of a message get
/// (https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification).
///
/// @param background whether the device shows nothing of it
record ApnsPayload(byte[] json, boolean background) {
  static final String APS = "aps";

  private static final JsonMapper JSON = WireForm.mapper();

  /// Everything that the payload is made of.
  record MadeOf(MessageId message, Content content, Overrides overrides, ApnsPushType type) {}

  /// Kept for the message's next device.
  static ApnsPayload of(Push push, ApnsPushType type, RecentPayloads<MadeOf, ApnsPayload> recent) {
    return recent.of(
        push.id(),
        new MadeOf(push.id(), push.content(), push.overrides(), type),
        () -> of(push, type));
  }

  private static ApnsPayload of(Push push, ApnsPushType type) {
    ObjectNode aps = aps(push, type);
    boolean background =
        type == ApnsPushType.ALERT && !aps.has("alert") && !aps.has("badge") && !aps.has("sound");
    // A server for device management sends its PushMagic and nothing else.
    return new ApnsPayload(
        type == ApnsPushType.MDM ? JSON.writeValueAsBytes(push.content().data()) : json(push, aps),
        background);
  }

  private static ObjectNode aps(Push push, ApnsPushType type) {
    ObjectNode aps = JSON.createObjectNode();
    putAlert(aps, push.content());
    switch (type) {
      case ALERT -> {
        if (aps.isEmpty()) {
          aps.put("content-available", 1);
        }
      }
      // https://developer.apple.com/documentation/widgetkit/updating-widgets-with-widgetkit-push-notifications
      case WIDGETS, CONTROLS -> aps.put("content-changed", true);
      case VOIP, COMPLICATION, FILEPROVIDER, LOCATION, PUSHTOTALK, MDM -> {}
    }
    merge(push, aps);
    return aps;
  }

  static void putAlert(ObjectNode aps, Content content) {
    if (content.title() != null || content.body() != null) {
      ObjectNode alert = aps.putObject("alert");
      putIfPresent(alert, "title", content.title());
      putIfPresent(alert, "body", content.body());
    }
  }

  static void putIfPresent(ObjectNode object, String field, @Nullable String value) {
    if (value != null) {
      object.put(field, value);
    }
  }

  /// Adds the fields that the caller wants in `aps`.
  static void merge(Push push, ObjectNode aps) {
    if (push.overrides().apns() != null) {
      JsonMerge.into(aps, push.overrides().apns());
    }
  }

  private static byte[] json(Push push, ObjectNode aps) {
    ObjectNode root = JSON.createObjectNode();
    push.content().data().forEach(root::put);
    root.put(push.content().idField(), push.id().value());
    root.set(APS, aps);
    return JSON.writeValueAsBytes(root);
  }
}
