package io.pushplanet.simulators.fcm;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// FCM's rules for a request body
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages).
final class FcmRules {
  /// One violation, named as Google names it.
  record Violation(String field, String description) {}

  private static final int LARGEST_PAYLOAD_BYTES = 4_096;
  private static final int LARGEST_TOPIC_PAYLOAD_BYTES = 2_048;

  /// 28 days
  /// (https://firebase.google.com/docs/cloud-messaging/customize-messages/setting-message-lifespan).
  private static final BigDecimal LONGEST_TTL_SECONDS = new BigDecimal(2_419_200);

  private static final Pattern TTL = Pattern.compile("-?[0-9]{1,12}(\\.[0-9]{1,9})?s");
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9_:.\\-]{1,4096}");
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9-_.~%]{1,900}");
  private static final Set<String> TARGETS = Set.of("token", "fid", "topic", "condition");
  private static final Set<String> BODY_FIELDS = Set.of("validate_only", "validateOnly", "message");
  private static final Set<String> MESSAGE_FIELDS =
      Set.of(
          "name",
          "data",
          "notification",
          "android",
          "webpush",
          "apns",
          "fcm_options",
          "fcmOptions",
          "token",
          "fid",
          "topic",
          "condition");
  private static final Set<String> NOTIFICATION_FIELDS = Set.of("title", "body", "image");
  private static final Set<String> ANDROID_FIELDS =
      Set.of(
          "collapse_key",
          "collapseKey",
          "priority",
          "ttl",
          "restricted_package_name",
          "restrictedPackageName",
          "data",
          "notification",
          "fcm_options",
          "fcmOptions",
          "direct_boot_ok",
          "directBootOk",
          "bandwidth_constrained_ok",
          "restricted_satellite_ok");

  private FcmRules() {}

  /// The target of a message: its token, fid or condition, or its topic in the form that apps get,
  /// `/topics/news`; empty without one.
  static String target(JsonNode message) {
    for (String kind : TARGETS) {
      String value = message.path(kind).asString("");
      if (!value.isEmpty()) {
        return kind.equals("topic") ? "/topics/" + value : value;
      }
    }
    return "";
  }

  /// Whether it is for followers of topics.
  static boolean isForFollowers(JsonNode message) {
    return message.has("topic") || message.has("condition");
  }

  /// All violations of a body.
  static List<Violation> violations(JsonNode body) {
    List<Violation> wrong = new ArrayList<>();
    if (!body.isObject()) {
      wrong.add(new Violation("", "Invalid JSON payload received."));
      return wrong;
    }
    unknown(body, BODY_FIELDS, "", wrong);
    JsonNode message = body.path("message");
    if (!message.isObject()) {
      wrong.add(new Violation("message", "Message is missing."));
      return wrong;
    }
    unknown(message, MESSAGE_FIELDS, "message", wrong);
    target(message, wrong);
    data(message.path("data"), "message.data", wrong);
    if (message.has("notification")) {
      unknown(message.path("notification"), NOTIFICATION_FIELDS, "message.notification", wrong);
    }
    android(message.path("android"), wrong);
    int limit = isForFollowers(message) ? LARGEST_TOPIC_PAYLOAD_BYTES : LARGEST_PAYLOAD_BYTES;
    int size = payloadBytes(message);
    if (size > limit) {
      wrong.add(
          new Violation(
              "message", "Android message is too big: " + size + " bytes, at most " + limit));
    }
    return wrong;
  }

  private static void target(JsonNode message, List<Violation> wrong) {
    long targets = TARGETS.stream().filter(message::has).count();
    if (targets != 1) {
      wrong.add(
          new Violation(
              "message", "Exactly one of token, fid, topic or condition; there are " + targets));
      return;
    }
    if (message.has("token")
        && !(message.path("token").isString()
            && TOKEN.matcher(message.path("token").asString()).matches())) {
      wrong.add(
          new Violation(
              "message.token", "The registration token is not a valid FCM registration token"));
    }
    if (message.has("topic") && !TOPIC.matcher(message.path("topic").asString("")).matches()) {
      wrong.add(new Violation("message.topic", "Invalid topic name"));
    }
    if (message.has("condition") && !Conditions.hold(message.path("condition").asString(""))) {
      wrong.add(new Violation("message.condition", "Invalid condition expression provided."));
    }
  }

  private static void data(JsonNode data, String path, List<Violation> wrong) {
    if (data.isMissingNode()) {
      return;
    }
    if (!data.isObject()) {
      wrong.add(new Violation(path, "Must be a map of strings."));
      return;
    }
    for (Map.Entry<String, JsonNode> entry : data.properties()) {
      String key = entry.getKey();
      if (!entry.getValue().isString()) {
        wrong.add(new Violation(path + "." + key, "Invalid value (TYPE_STRING)"));
      }
      if (key.equals("from")
          || key.equals("message_type")
          || key.startsWith("google")
          || key.startsWith("gcm")) {
        wrong.add(new Violation(path, "Invalid data payload key: " + key));
      }
    }
  }

  private static void android(JsonNode android, List<Violation> wrong) {
    if (android.isMissingNode()) {
      return;
    }
    unknown(android, ANDROID_FIELDS, "message.android", wrong);
    data(android.path("data"), "message.android.data", wrong);
    collapseKey(android, wrong);
    String priority = android.path("priority").asString("NORMAL");
    if (!priority.equalsIgnoreCase("NORMAL") && !priority.equalsIgnoreCase("HIGH")) {
      wrong.add(new Violation("message.android.priority", "Must be NORMAL or HIGH"));
    }
    if (android.has("ttl")) {
      String ttl = android.path("ttl").asString("");
      if (!TTL.matcher(ttl).matches()) {
        wrong.add(new Violation("message.android.ttl", "Illegal duration format; it ends in s"));
        return;
      }
      BigDecimal seconds = new BigDecimal(ttl.substring(0, ttl.length() - 1));
      if (seconds.signum() < 0 || seconds.compareTo(LONGEST_TTL_SECONDS) > 0) {
        wrong.add(new Violation("message.android.ttl", "Must be 0 to 2419200 seconds"));
      }
    }
  }

  /// Text of any length. More than four keys of a device are no error: then FCM chooses which four
  /// it stores while the device is offline
  /// (https://firebase.google.com/docs/cloud-messaging/customize-messages/collapsible-message-types).
  private static void collapseKey(JsonNode android, List<Violation> wrong) {
    for (String name : List.of("collapse_key", "collapseKey")) {
      if (android.hasNonNull(name) && !android.path(name).isString()) {
        wrong.add(new Violation("message.android.collapse_key", "Invalid value (TYPE_STRING)"));
      }
    }
  }

  private static void unknown(
      JsonNode object, Set<String> known, String path, List<Violation> wrong) {
    for (String name : object.propertyNames()) {
      if (!known.contains(name)) {
        wrong.add(new Violation(path, "Unknown name \"" + name + "\": Cannot find field."));
      }
    }
  }

  private static int payloadBytes(JsonNode message) {
    return textBytes(message.path("data"))
        + textBytes(message.path("notification"))
        + textBytes(message.path("android").path("data"))
        + textBytes(message.path("android").path("notification"));
  }

  private static int textBytes(JsonNode object) {
    int bytes = 0;
    for (Map.Entry<String, JsonNode> entry : object.properties()) {
      bytes += utf8(entry.getKey()) + utf8(entry.getValue().asString(""));
    }
    return bytes;
  }

  private static int utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
