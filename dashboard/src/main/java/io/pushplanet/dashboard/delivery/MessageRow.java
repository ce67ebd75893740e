package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.delivery.MessageState;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/// A row of `messages`. Every text that an app gave is escaped on every page.
///
/// @param audience JSON; in a list only its first [MessageMapper#AUDIENCE_LISTED] characters
record MessageRow(
    MessageId id,
    AppId appId,
    String audience,
    String content,
    String delivery,
    Instant acceptedAt,
    Instant expiresAt,
    @Nullable Instant expandedAt,
    @Nullable Instant cancelledAt,
    int recipients,
    int delivered,
    int failed,
    int expired,
    int cancelled,
    int duplicates,
    int opened) {
  private static final String KIND = "kind";
  private static final Set<String> SPREAD_BY_VENDOR =
      Set.of("channel", "fcm_topic", "fcm_condition");

  public int queued() {
    return Math.max(0, recipients - ended());
  }

  private int ended() {
    return delivered + failed + expired + cancelled;
  }

  /// By the name that the API uses, so that an app's backend and its operator call it the same.
  public String state() {
    return MessageState.of(cancelledAt != null, expandedAt != null, recipients, ended()).word();
  }

  public String title() {
    String title = tree(content).path("title").asString("");
    if (!title.isEmpty()) {
      return title;
    }
    String body = tree(content).path("body").asString("");
    return body.isEmpty() ? "data only" : body;
  }

  public String body() {
    return tree(content).path("body").asString("");
  }

  public String data() {
    JsonNode data = tree(content).path("data");
    return data.isEmpty() ? "" : data.toPrettyString();
  }

  public String option(String field) {
    return tree(delivery).path(field).asString("");
  }

  /// `topic news`, `3 devices`, `(tag news and not tag muted)`; a broadcast channel's id says what
  /// it is. Where a list has read only the start of it: `many devices`, `many users`, or `a large
  /// audience` for one that is made of others.
  public String audienceWords() {
    JsonNode asked = tree(audience);
    return asked.isMissingNode() && audience.length() >= MessageMapper.AUDIENCE_LISTED
        ? wordsOfStart()
        : words(asked);
  }

  private String wordsOfStart() {
    if (audience.startsWith("{\"kind\":\"devices\"")) {
      return "many devices";
    }
    return audience.startsWith("{\"kind\":\"users\"") ? "many users" : "a large audience";
  }

  /// Whether its only recipient is not a device but a channel or topic, which a vendor expands.
  public boolean isSpreadByVendor() {
    return SPREAD_BY_VENDOR.contains(tree(audience).path(KIND).asString(""));
  }

  private String words(JsonNode asked) {
    String kind = asked.path(KIND).asString("");
    return switch (kind) {
      case "devices" -> listed(asked.path("devices"), "device");
      case "users" -> listed(asked.path("users"), "user");
      case "topic" -> "topic " + asked.path("topic").asString("");
      case "tag" -> "tag " + asked.path("tag").asString("");
      case "channel" -> asked.path("channel").asString("");
      case "fcm_topic" -> "Firebase topic " + asked.path("topic").asString("");
      case "fcm_condition" -> "Firebase condition " + asked.path("condition").asString("");
      case "all" -> "all devices";
      case "and", "or" ->
          asked
              .path("parts")
              .valueStream()
              .map(this::words)
              .collect(Collectors.joining(" " + kind + " ", "(", ")"));
      case "not" -> "not " + words(asked.path("part"));
      default -> audience.length() <= 60 ? audience : audience.substring(0, 60) + "…";
    };
  }

  private static String listed(JsonNode names, String what) {
    return names.size() == 1
        ? what + " " + names.path(0).asString("")
        : names.size() + " " + what + "s";
  }

  private static JsonNode tree(String json) {
    try {
      return WireForm.mapper().readTree(json);
    } catch (JacksonException e) {
      return MissingNode.getInstance();
    }
  }
}
