package io.pushplanet.simulators.hms;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Push Kit's rules for a request body
/// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
final class HmsRules {
  /// A violation, with Push Kit's code.
  record Violation(String code, String message) {}

  static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7e]{1,4096}");
  static final int MAX_TOKENS = 1_000;
  private static final int LARGEST_BODY_BYTES = 4_096;
  private static final int LONGEST_TAG_BYTES = 64;

  /// 15 days.
  private static final BigDecimal LONGEST_TTL_SECONDS = new BigDecimal(1_296_000);

  private static final Pattern TTL = Pattern.compile("[0-9]{1,12}(\\.[0-9]{1,9})?[sS]?");
  private static final Set<String> BODY_FIELDS = Set.of("validate_only", "message", "review");
  private static final Set<String> TARGETS = Set.of("token", "topic", "condition");
  private static final Set<String> MESSAGE_FIELDS =
      Set.of("data", "notification", "android", "apns", "webpush", "token", "topic", "condition");
  private static final Set<String> ANDROID_FIELDS =
      Set.of(
          "bi_tag",
          "category",
          "collapse_key",
          "data",
          "fast_app_target",
          "notification",
          "receipt_id",
          "target_user_type",
          "ttl",
          "urgency");

  private HmsRules() {}

  /// The tokens that a message names, the empty list when it names none.
  static List<String> tokens(JsonNode message) {
    List<String> tokens = new ArrayList<>();
    message.path("token").forEach(token -> tokens.add(token.asString("")));
    return tokens;
  }

  /// The first violation of a body.
  static Optional<Violation> violation(JsonNode body) {
    JsonNode message = body.path("message");
    if (!body.isObject() || !known(body, BODY_FIELDS)) {
      return wrong("80100001", "the body is not understood");
    }
    if (!message.isObject()) {
      // Not in the reference: a request that misspells the message is answered as one without
      // tokens (https://segmentfault.com/a/1190000042188975/en).
      return wrong("80300010", "no message, and so no tokens");
    }
    if (!known(message, MESSAGE_FIELDS) || !known(message.path("android"), ANDROID_FIELDS)) {
      return wrong("80100003", "a field is unknown");
    }
    if (TARGETS.stream().filter(message::has).count() != 1
        || (message.has("token")
            && !(message.path("token").isArray()
                && message.path("token").valueStream().allMatch(JsonNode::isString)))) {
      return wrong("80100003", "exactly one of token (texts), topic and condition");
    }
    if (message.has("token")
        && (message.path("token").isEmpty() || message.path("token").size() > MAX_TOKENS)) {
      return wrong("80300010", "1 to 1000 tokens");
    }
    return content(message)
        .or(() -> android(message.path("android")))
        .or(() ->
            size(body) > LARGEST_BODY_BYTES
                ? wrong("80300008", "the body has more than 4096 bytes")
                : Optional.empty());
  }

  private static Optional<Violation> content(JsonNode message) {
    JsonNode shown = message.path("notification");
    JsonNode onAndroid = message.path("android").path("notification");
    if (message.has("data") && !message.path("data").isString()) {
      return wrong("80100003", "data is a text");
    }
    if (!message.has("data") && shown.isMissingNode() && onAndroid.isMissingNode()) {
      return wrong("80100003", "neither data nor a notification");
    }
    if (shown.isMissingNode() && onAndroid.isMissingNode()) {
      return Optional.empty();
    }
    for (String field : List.of("title", "body")) {
      if (shown.path(field).asString("").isEmpty()
          && onAndroid.path(field).asString("").isEmpty()) {
        return wrong("80100003", "a notification has a " + field);
      }
    }
    int type = onAndroid.path("click_action").path("type").asInt(0);
    return type < 1 || type > 3
        ? wrong("80100003", "click_action.type is 1, 2 or 3")
        : Optional.empty();
  }

  private static Optional<Violation> android(JsonNode android) {
    JsonNode key = android.path("collapse_key");
    if (!key.isMissingNode()
        && !(key.isIntegralNumber() && key.asInt() >= -1 && key.asInt() <= 100)) {
      return wrong("80100013", "collapse_key is -1 to 100");
    }
    if (!Set.of("HIGH", "NORMAL").contains(android.path("urgency").asString("NORMAL"))) {
      return wrong("80100001", "urgency is HIGH or NORMAL");
    }
    if (android.path("bi_tag").asString("").getBytes(StandardCharsets.UTF_8).length
        > LONGEST_TAG_BYTES) {
      return wrong("80100001", "bi_tag has at most 64 bytes");
    }
    String ttl = android.path("ttl").asString("86400s");
    if (!TTL.matcher(ttl).matches()) {
      return wrong("80100001", "ttl is seconds, such as 86400s");
    }
    BigDecimal seconds = new BigDecimal(ttl.replaceFirst("[sS]$", ""));
    if (seconds.compareTo(LONGEST_TTL_SECONDS) > 0) {
      return wrong("80100001", "ttl is at most 1296000s");
    }
    return seconds.signum() == 0
        ? wrong("80100004", "the message is expired already")
        : Optional.empty();
  }

  private static boolean known(JsonNode object, Set<String> names) {
    return names.containsAll(object.propertyNames());
  }

  /// Without the tokens.
  private static int size(JsonNode body) {
    ObjectNode without = (ObjectNode) body.deepCopy();
    without.withObject("message").putArray("token");
    return JsonMapper.shared().writeValueAsBytes(without).length;
  }

  private static Optional<Violation> wrong(String code, String message) {
    return Optional.of(new Violation(code, message));
  }
}
