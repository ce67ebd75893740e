package io.pushplanet.gateway.webpush;

import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.provider.JsonMerge;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/// A message in the form of RFC 8030: the JSON for the service worker, which is what a device gets
/// over MQTT with the caller's overrides, and the headers for the push service.
///
/// @param text before it is encrypted
record WebPushMessage(List<Field> headers, byte[] text) {
  /// https://www.rfc-editor.org/rfc/rfc8030#section-5.4
  private static final int LONGEST_TOPIC = 32;

  private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9_-]{1," + LONGEST_TOPIC + "}");

  /// So many bytes make a topic of the full length in base64url.
  private static final int TOPIC_BYTES = LONGEST_TOPIC * 3 / 4;

  static WebPushMessage of(Push push, Instant now) {
    return new WebPushMessage(
        List.of(
            Field.of("ttl", Long.toString(push.secondsLeft(now))),
            Field.of("urgency", push.delivery().urgency().webPushUrgency()),
            Field.of("topic", topic(push))),
        text(push));
  }

  /// A push service keeps the newest of the waiting messages of one topic. Without a key of the
  /// caller's the topic is the message's id, so that a repeat after a lost answer replaces the
  /// first copy.
  static String topic(Push push) {
    String key = push.delivery().collapseKey();
    if (key == null) {
      return fitting(push.id().value().replace("-", ""));
    }
    return fitting(key);
  }

  private static String fitting(String key) {
    return TOPIC.matcher(key).matches()
        ? key
        : Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(Arrays.copyOf(Sha256.of(key), TOPIC_BYTES));
  }

  private static byte[] text(Push push) {
    byte[] payload = DevicePayload.of(push).getBytes(StandardCharsets.UTF_8);
    ObjectNode overrides = push.overrides().webpush();
    if (overrides == null) {
      return payload;
    }
    ObjectNode merged = (ObjectNode) WireForm.mapper().readTree(payload);
    JsonMerge.into(merged, overrides);
    // So that an override cannot replace our id, by which the app knows a repeat.
    merged.put("id", push.id().value());
    return WireForm.mapper().writeValueAsBytes(merged);
  }
}
