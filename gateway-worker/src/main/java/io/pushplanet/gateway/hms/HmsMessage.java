package io.pushplanet.gateway.hms;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.provider.JsonMerge;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// A message in Push Kit's format
/// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
final class HmsMessage {
  private static final JsonMapper JSON = WireForm.mapper();

  /// Push Kit keeps a message 15 days at most, and calls one of 0 s expired.
  private static final Duration LONGEST_TTL = Duration.ofDays(15);

  private static final Duration SHORTEST_TTL = Duration.ofSeconds(1);

  /// Push Kit keeps every waiting message.
  private static final int KEEP_ALL = -1;

  /// The groups of which Push Kit keeps only the newest message.
  private static final Pattern GROUP = Pattern.compile("[1-9][0-9]?|100");

  private static final int OPENS_THE_APP = 3;

  private HmsMessage() {}

  /// @param urgent whether the app may send with urgency HIGH, and this message should
  static byte[] of(Push push, List<String> tokens, boolean urgent, Instant now) {
    ObjectNode message = JSON.createObjectNode();
    Content content = push.content();
    String shown = content.title() == null ? content.body() : content.title();
    if (shown != null) {
      // A notification needs both.
      message
          .putObject("notification")
          .put("title", shown)
          .put("body", content.body() == null ? shown : content.body());
    }
    message.put("data", data(push));
    android(message.putObject("android"), push, shown, urgent, now);
    if (push.overrides().hms() != null) {
      JsonMerge.into(message, push.overrides().hms());
    }
    // Last, so that an override cannot send to another device.
    message.remove("topic");
    message.remove("condition");
    ArrayNode to = message.putArray("token");
    tokens.forEach(to::add);
    return JSON.writeValueAsBytes(JSON.createObjectNode().set("message", message));
  }

  /// The data as a text, which must be JSON when a notification is shown as well.
  private static String data(Push push) {
    ObjectNode data = JSON.createObjectNode();
    push.content().data().forEach(data::put);
    data.put(push.content().idField(), push.id().value());
    return JSON.writeValueAsString(data);
  }

  private static void android(
      ObjectNode android, Push push, @Nullable String shown, boolean urgent, Instant now) {
    String collapseKey = push.delivery().collapseKey();
    android.put("ttl", secondsLeft(push, now) + "s");
    android.put("urgency", urgent ? "HIGH" : "NORMAL");
    android.put("collapse_key", group(collapseKey));
    android.put("bi_tag", push.id().value());
    if (shown != null) {
      // On the device, a repeat after a lost answer and a newer message with the same key replace
      // the first.
      ObjectNode notification = android.putObject("notification");
      notification.put("tag", collapseKey == null ? push.id().value() : collapseKey);
      notification.putObject("click_action").put("type", OPENS_THE_APP);
    }
  }

  /// Push Kit has a hundred groups, and callers have any number of keys. Two keys in one group
  /// would replace each other, and a message would be lost. So only a key that is a group's number
  /// is its group; the tag does the same for other keys on the device.
  private static int group(@Nullable String collapseKey) {
    return collapseKey != null && GROUP.matcher(collapseKey).matches()
        ? Integer.parseInt(collapseKey)
        : KEEP_ALL;
  }

  private static long secondsLeft(Push push, Instant now) {
    return Math.clamp(push.secondsLeft(now), SHORTEST_TTL.toSeconds(), LONGEST_TTL.toSeconds());
  }
}
