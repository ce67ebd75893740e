package io.pushplanet.simulators.apns;

import io.pushplanet.simulators.server.Request;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// Apple's rules for a request, without its authentication
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
final class ApnsRules {
  private static final int LARGEST_PAYLOAD_BYTES = 4_096;
  private static final int LARGEST_VOIP_PAYLOAD_BYTES = 5_120;
  private static final int LONGEST_COLLAPSE_ID_BYTES = 64;

  /// 32 bytes today; Apple asks not to rely on it, so up to 1,024 bytes are well-formed here.
  static final Pattern TOKEN = Pattern.compile("(?:[0-9a-fA-F]{2}){32,1024}");

  private static final Pattern UUID =
      Pattern.compile(
          "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");
  private static final Pattern EPOCH_SECONDS = Pattern.compile("[0-9]{1,12}");

  /// Push type to the suffix its topic carries.
  private static final Map<String, String> SUFFIXES =
      Map.ofEntries(
          Map.entry("alert", ""),
          Map.entry("background", ""),
          Map.entry("mdm", ""),
          Map.entry("voip", ".voip"),
          Map.entry("complication", ".complication"),
          Map.entry("fileprovider", ".pushkit.fileprovider"),
          Map.entry("location", ".location-query"),
          Map.entry("liveactivity", ".push-type.liveactivity"),
          Map.entry("pushtotalk", ".voip-ptt"),
          Map.entry("widgets", ".push-type.widgets"),
          Map.entry("controls", ".push-type.controls"));

  /// An "Apple Push Services" certificate carries the topics of these.
  private static final Set<String> CERTIFIED =
      Set.of("alert", "background", "mdm", "voip", "complication");

  private static final Set<String> SINGLE_HEADERS =
      Set.of(
          "authorization",
          "apns-id",
          "apns-push-type",
          "apns-expiration",
          "apns-priority",
          "apns-topic",
          "apns-collapse-id");

  private ApnsRules() {}

  /// The first rule that method and path break.
  static Optional<ApnsRefusal> brokenByLine(Request request) {
    List<String> segments = request.segments();
    if (segments.size() < 2 || !segments.get(0).equals("3") || !segments.get(1).equals("device")) {
      return Optional.of(ApnsRefusal.BadPath);
    }
    if (!request.method().equals("POST")) {
      return Optional.of(ApnsRefusal.MethodNotAllowed);
    }
    if (segments.size() > 3) {
      return Optional.of(ApnsRefusal.BadPath);
    }
    return duplicated(request, SINGLE_HEADERS)
        ? Optional.of(ApnsRefusal.DuplicateHeaders)
        : Optional.empty();
  }

  /// The first rule that headers and payload break, given the topics the sender owns.
  ///
  /// @param certified whether the sender has them by its certificate
  static Optional<ApnsRefusal> broken(
      Request request, List<String> topics, boolean certified, JsonNode payload) {
    String pushType = request.header("apns-push-type").orElse("");
    String priority = request.header("apns-priority").orElse("10");
    String topic = request.header("apns-topic").orElse("");
    if (!request.header("apns-id").map(id -> UUID.matcher(id).matches()).orElse(true)) {
      return Optional.of(ApnsRefusal.BadMessageId);
    }
    if (!request
        .header("apns-expiration")
        .map(e -> EPOCH_SECONDS.matcher(e).matches())
        .orElse(true)) {
      return Optional.of(ApnsRefusal.BadExpirationDate);
    }
    if (!SUFFIXES.containsKey(pushType)) {
      return Optional.of(ApnsRefusal.InvalidPushType);
    }
    if (!List.of("1", "5", "10").contains(priority)
        || (pushType.equals("background") && !priority.equals("5"))) {
      return Optional.of(ApnsRefusal.BadPriority);
    }
    if (request
            .header("apns-collapse-id")
            .map(id -> id.getBytes(StandardCharsets.UTF_8).length)
            .orElse(0)
        > LONGEST_COLLAPSE_ID_BYTES) {
      return Optional.of(ApnsRefusal.BadCollapseId);
    }
    Optional<ApnsRefusal> aboutTopic =
        brokenTopic(topic, SUFFIXES.getOrDefault(pushType, ""), topics);
    if (aboutTopic.isPresent()) {
      return aboutTopic;
    }
    if (certified && !CERTIFIED.contains(pushType)) {
      return Optional.of(ApnsRefusal.TopicDisallowed);
    }
    List<String> segments = request.segments();
    if (segments.size() < 3) {
      return Optional.of(ApnsRefusal.MissingDeviceToken);
    }
    if (!TOKEN.matcher(segments.get(2)).matches()) {
      return Optional.of(ApnsRefusal.BadDeviceToken);
    }
    int largest = pushType.equals("voip") ? LARGEST_VOIP_PAYLOAD_BYTES : LARGEST_PAYLOAD_BYTES;
    if (request.body().length > largest) {
      return Optional.of(ApnsRefusal.PayloadTooLarge);
    }
    // Apple lists no reason for a body that is not JSON: its servers find no payload in it.
    boolean hasAps = payload.path("aps").isObject() || pushType.equals("mdm");
    return payload.isObject() && hasAps ? Optional.empty() : Optional.of(ApnsRefusal.PayloadEmpty);
  }

  private static Optional<ApnsRefusal> brokenTopic(
      String topic, String suffix, List<String> topics) {
    if (topic.isEmpty()) {
      return Optional.of(ApnsRefusal.MissingTopic);
    }
    if (!topic.endsWith(suffix)) {
      return Optional.of(ApnsRefusal.BadTopic);
    }
    String bundleId = topic.substring(0, topic.length() - suffix.length());
    return topics.contains(bundleId) ? Optional.empty() : Optional.of(ApnsRefusal.TopicDisallowed);
  }

  static boolean duplicated(Request request, Set<String> single) {
    Set<String> seen = new HashSet<>();
    return request.headers().stream()
        .anyMatch(h -> single.contains(h.name()) && !seen.add(h.name()));
  }
}
