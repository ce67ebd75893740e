package io.pushplanet.gateway.fcm;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.provider.CollapseId;
import io.pushplanet.gateway.provider.JsonMerge;
import io.pushplanet.gateway.provider.RecentPayloads;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A message in FCM's format
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages).
///
/// A repeat after a lost answer replaces a notification that is shown: by its tag, or at Apple by
/// its collapse id. Data alone has no such name on Android and in browsers: FCM hands each copy to
/// the app. A collapse key for each message would lose others, because FCM keeps four per device
/// and forgets any of them for a fifth
/// (https://firebase.google.com/docs/cloud-messaging/customize-messages/collapsible-message-types).
/// So the app has to recognize repeats by our id in the data.
///
/// @param untargeted the message as a JSON object that is not empty and names no target
record FcmMessage(byte[] untargeted) {
  private static final JsonMapper JSON = WireForm.mapper();
  private static final List<String> TARGETS = List.of("token", "fid", "topic", "condition");

  // The JSON in front of the target.
  private static final byte[] TOKEN = before("token");
  private static final byte[] FID = before("fid");
  private static final byte[] TOPIC = before("topic");
  private static final byte[] CONDITION = before("condition");
  private static final int MAX_AROUND = 32;

  /// Everything that the message is made of.
  record MadeOf(
      MessageId message,
      Content content,
      DeliveryOptions delivery,
      Overrides overrides,
      Instant expiresAt,
      long secondsLeft) {}

  /// Kept for the message's next device, until its time to live is a second shorter.
  static FcmMessage of(Push push, Instant now, RecentPayloads<MadeOf, FcmMessage> recent) {
    return recent.of(
        push.id(),
        new MadeOf(
            push.id(),
            push.content(),
            push.delivery(),
            push.overrides(),
            push.expiresAt(),
            push.secondsLeft(now)),
        () -> of(push, now));
  }

  static FcmMessage of(Push push, Instant now) {
    ObjectNode message = JSON.createObjectNode();
    Content content = push.content();
    boolean shown = content.title() != null || content.body() != null;
    if (shown) {
      ObjectNode notification = message.putObject("notification");
      if (content.title() != null) {
        notification.put("title", content.title());
      }
      if (content.body() != null) {
        notification.put("body", content.body());
      }
    }
    ObjectNode data = message.putObject("data");
    content.data().forEach(data::put);
    android(message.putObject("android"), push, shown, now);
    elsewhere(message, push, shown, now);
    if (push.overrides().fcm() != null) {
      JsonMerge.into(message, push.overrides().fcm());
    }
    // So that an override can neither send to another device nor replace our id.
    TARGETS.forEach(message::remove);
    putId(message, push);
    return new FcmMessage(JSON.writeValueAsBytes(message));
  }

  private static void putId(ObjectNode message, Push push) {
    ObjectNode data =
        message.get("data") instanceof ObjectNode given ? given : message.putObject("data");
    data.put(Content.idField(data.has("id")), push.id().value());
  }

  /// The body of a request.
  byte[] to(FcmToken token) {
    byte[] target = JSON.writeValueAsBytes(token.token());
    ByteArrayOutputStream body =
        new ByteArrayOutputStream(MAX_AROUND + target.length + untargeted.length);
    body.writeBytes(
        switch (token.kind()) {
          case "fid" -> FID;
          case FcmToken.TOPIC -> TOPIC;
          case FcmToken.CONDITION -> CONDITION;
          default -> TOKEN;
        });
    body.writeBytes(target);
    body.write(',');
    body.write(untargeted, 1, untargeted.length - 1);
    body.write('}');
    return body.toByteArray();
  }

  private static byte[] before(String target) {
    return ("{\"message\":{\"" + target + "\":").getBytes(StandardCharsets.US_ASCII);
  }

  private static void android(ObjectNode android, Push push, boolean shown, Instant now) {
    String collapseKey = push.delivery().collapseKey();
    android.put("ttl", push.secondsLeft(now) + "s");
    android.put("priority", push.delivery().priority() == Priority.HIGH ? "HIGH" : "NORMAL");
    if (collapseKey != null) {
      android.put("collapse_key", collapseKey);
    }
    if (shown) {
      // No collapse key for each message: it would use up the four that a device may have.
      android.putObject("notification").put("tag", tag(push));
    }
  }

  /// Apple's phones and browsers take a lifespan of their own, four weeks unless it is given
  /// (https://firebase.google.com/docs/cloud-messaging/customize-messages/setting-message-lifespan),
  /// recognize a repeat by a name of their own, and have a priority of their own. Apple's wake the
  /// app for data alone only as a background notification
  /// (https://firebase.google.com/docs/cloud-messaging/ios/receive-messages#handle-silent-push-notifications).
  private static void elsewhere(ObjectNode message, Push push, boolean shown, Instant now) {
    Urgency urgency = push.delivery().urgency();
    long end = push.delivery().ttl().isZero() ? 0 : push.expiresAt().getEpochSecond();
    ObjectNode apns = message.putObject("apns");
    apns.putObject("headers")
        .put("apns-expiration", Long.toString(end))
        .put("apns-collapse-id", CollapseId.of(push))
        .put("apns-priority", shown ? urgency.apnsPriority() : "5");
    ObjectNode webpush = message.putObject("webpush");
    webpush
        .putObject("headers")
        .put("TTL", Long.toString(push.secondsLeft(now)))
        .put("Urgency", urgency.webPushUrgency());
    if (shown) {
      webpush.putObject("notification").put("tag", tag(push));
    } else {
      apns.putObject("payload").putObject("aps").put("content-available", 1);
    }
  }

  /// On the device, a repeat after a lost answer and a newer message with the same key replace the
  /// first.
  private static String tag(Push push) {
    String collapseKey = push.delivery().collapseKey();
    return collapseKey == null ? push.id().value() : collapseKey;
  }
}
