package io.pushplanet.simulators.apns;

import io.pushplanet.simulators.server.Reaction;
import io.pushplanet.simulators.server.Request;
import io.pushplanet.simulators.server.Request.Header;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/// The broadcast channels of one environment, and Apple's rules for requests about them
/// (https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns,
/// https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns).
/// Apple manages them on a host of its own; here both are behind one port.
///
/// Thread-safe.
final class BroadcastChannels {
  static final String CHANNEL = "apns-channel-id";
  static final String REQUEST = "apns-request-id";

  private static final JsonMapper JSON = JsonMapper.shared();
  private static final RandomGenerator RANDOM = new SecureRandom();
  private static final int LARGEST_PAYLOAD_BYTES = 5_120;
  private static final int MAX = 10_000;
  private static final int BYTES = 16;

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9+/]{22}==");
  private static final Pattern EPOCH_SECONDS = Pattern.compile("[0-9]{1,12}");
  private static final Set<String> SINGLE_HEADERS =
      Set.of(
          "authorization", REQUEST, CHANNEL, "apns-push-type", "apns-expiration", "apns-priority");

  /// By bundle id, then by channel id: how many messages are kept for absent devices, 0 or 1, the
  /// newest.
  private final Map<String, Map<String, Integer>> channels = new HashMap<>();

  /// Whether a request is about channels at all.
  static boolean concerns(Request request) {
    List<String> segments = request.segments();
    return segments.size() == 4
        && ((segments.get(0).equals("1") && segments.get(1).equals("apps"))
            || isBroadcast(segments));
  }

  static boolean isBroadcast(List<String> segments) {
    return segments.get(0).equals("4")
        && segments.get(1).equals("broadcasts")
        && segments.get(2).equals("apps");
  }

  /// The first rule that method, path and the names of headers break.
  static Optional<ApnsRefusal> brokenByLine(Request request) {
    List<String> segments = request.segments();
    List<String> methods =
        isBroadcast(segments)
            ? List.of("POST")
            : switch (segments.get(3)) {
              case "channels" -> List.of("POST", "GET", "DELETE");
              case "all-channels" -> List.of("GET");
              default -> List.of();
            };
    if (methods.isEmpty()) {
      return Optional.of(ApnsRefusal.BadPath);
    }
    if (!methods.contains(request.method())) {
      return Optional.of(ApnsRefusal.MethodNotAllowed);
    }
    return ApnsRules.duplicated(request, SINGLE_HEADERS)
        ? Optional.of(ApnsRefusal.DuplicateHeaders)
        : Optional.empty();
  }

  /// The first rule that the rest of the request breaks, given the topics the sender owns.
  synchronized Optional<ApnsRefusal> broken(Request request, List<String> topics, JsonNode body) {
    String bundle = bundle(request);
    if (!topics.contains(bundle)) {
      return Optional.of(ApnsRefusal.TopicMismatch);
    }
    if (isBroadcast(request.segments())) {
      return brokenByBroadcast(request, bundle, body);
    }
    if (request.segments().get(3).equals("all-channels")) {
      return Optional.empty();
    }
    return request.method().equals("POST")
        ? brokenByCreation(bundle, body)
        : brokenByChannel(request, bundle);
  }

  private Optional<ApnsRefusal> brokenByBroadcast(Request request, String bundle, JsonNode body) {
    Optional<String> pushType = request.header("apns-push-type");
    if (pushType.isEmpty()) {
      return Optional.of(ApnsRefusal.MissingPushType);
    }
    if (!pushType.get().equals("liveactivity")) {
      return Optional.of(ApnsRefusal.InvalidPushType);
    }
    Optional<ApnsRefusal> byChannel = brokenByChannel(request, bundle);
    if (byChannel.isPresent()) {
      return byChannel;
    }
    String expiration = request.header("apns-expiration").orElse("");
    boolean kept = of(bundle).getOrDefault(request.header(CHANNEL).orElse(""), 0) == 1;
    if (!EPOCH_SECONDS.matcher(expiration).matches() || (!kept && !expiration.equals("0"))) {
      return Optional.of(ApnsRefusal.BadExpirationDate);
    }
    if (!List.of("1", "5", "10").contains(request.header("apns-priority").orElse("10"))) {
      return Optional.of(ApnsRefusal.BadPriority);
    }
    if (request.body().length > LARGEST_PAYLOAD_BYTES) {
      return Optional.of(ApnsRefusal.PayloadTooLarge);
    }
    return body.path("aps").isObject() ? Optional.empty() : Optional.of(ApnsRefusal.PayloadEmpty);
  }

  private Optional<ApnsRefusal> brokenByCreation(String bundle, JsonNode body) {
    JsonNode policy = body.path("message-storage-policy");
    if (!policy.isInt() || policy.intValue() < 0 || policy.intValue() > 1) {
      // Apple lists no reason of its own for this.
      return Optional.of(ApnsRefusal.PayloadEmpty);
    }
    if (!body.path("push-type").asString("").equals("LiveActivity")) {
      return Optional.of(ApnsRefusal.InvalidPushType);
    }
    return of(bundle).size() >= MAX
        ? Optional.of(ApnsRefusal.CannotCreateChannelConfig)
        : Optional.empty();
  }

  private Optional<ApnsRefusal> brokenByChannel(Request request, String bundle) {
    Optional<String> id = request.header(CHANNEL);
    if (id.isEmpty()) {
      return Optional.of(ApnsRefusal.MissingChannelId);
    }
    if (!ID.matcher(id.get()).matches()) {
      return Optional.of(ApnsRefusal.BadChannelId);
    }
    return of(bundle).containsKey(id.get())
        ? Optional.empty()
        : Optional.of(ApnsRefusal.ChannelNotRegistered);
  }

  /// Executes and answers a request that broke no rule.
  synchronized Reaction.Answer managed(Request request, Header requestId, JsonNode body) {
    Map<String, Integer> known = of(bundle(request));
    if (request.segments().get(3).equals("all-channels")) {
      ArrayNode ids = JSON.createArrayNode();
      known.keySet().forEach(ids::add);
      return told(requestId, JSON.createObjectNode().set("channels", ids));
    }
    String id = request.header(CHANNEL).orElse("");
    return switch (request.method()) {
      case "POST" -> {
        byte[] random = new byte[BYTES];
        RANDOM.nextBytes(random);
        String made = Base64.getEncoder().encodeToString(random);
        known.put(made, body.path("message-storage-policy").intValue());
        yield answer(201, List.of(requestId, new Header(CHANNEL, made)), new byte[0]);
      }
      case "DELETE" -> {
        known.remove(id);
        yield answer(204, List.of(requestId), new byte[0]);
      }
      default ->
          told(
              requestId,
              JSON.createObjectNode()
                  .put("message-storage-policy", known.get(id))
                  .put("push-type", "LiveActivity"));
    };
  }

  private Map<String, Integer> of(String bundle) {
    return channels.computeIfAbsent(bundle, _ -> new LinkedHashMap<>());
  }

  private static String bundle(Request request) {
    List<String> segments = request.segments();
    return segments.get(isBroadcast(segments) ? 3 : 2);
  }

  private static Reaction.Answer told(Header requestId, JsonNode body) {
    List<Header> headers = new ArrayList<>(List.of(requestId));
    headers.add(new Header("content-type", "application/json"));
    return answer(200, headers, JSON.writeValueAsBytes(body));
  }

  private static Reaction.Answer answer(int status, List<Header> headers, byte[] body) {
    return new Reaction.Answer(status, headers, body, Duration.ZERO);
  }
}
