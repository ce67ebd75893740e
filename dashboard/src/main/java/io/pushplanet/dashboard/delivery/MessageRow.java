package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.delivery.MessageState;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.MalformedWire;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
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
    return asked().map(MessageRow::words).orElseGet(this::wordsOfUnreadable);
  }

  private String wordsOfUnreadable() {
    if (audience.length() < MessageMapper.AUDIENCE_LISTED) {
      return audience;
    }
    if (audience.startsWith("{\"kind\":\"devices\"")) {
      return "many devices";
    }
    return audience.startsWith("{\"kind\":\"users\"") ? "many users" : "a large audience";
  }

  /// Whether its only recipient is not a device but a channel or topic, which a vendor expands.
  public boolean isSpreadByVendor() {
    return asked().filter(Audience.SpreadByVendor.class::isInstance).isPresent();
  }

  /// Empty where a list has read only its start, and while the message's acceptance is not there
  /// yet.
  private Optional<Audience> asked() {
    try {
      return Optional.of(WireForm.read(audience.getBytes(StandardCharsets.UTF_8), Audience.class));
    } catch (MalformedWire e) {
      return Optional.empty();
    }
  }

  private static String words(Audience asked) {
    return switch (asked) {
      case Audience.Devices(var devices) when devices.size() == 1 ->
          "device " + devices.getFirst().value();
      case Audience.Devices(var devices) -> devices.size() + " devices";
      case Audience.Users(var users) when users.size() == 1 -> "user " + users.getFirst();
      case Audience.Users(var users) -> users.size() + " users";
      case Audience.Topic(var topic) -> "topic " + topic;
      case Audience.Tag(var tag) -> "tag " + tag;
      case Audience.ActivityChannel(var channel) -> channel.value();
      case Audience.FcmTopic(var topic) -> "Firebase topic " + topic;
      case Audience.FcmCondition(var condition) -> "Firebase condition " + condition;
      case Audience.All() -> "all devices";
      case Audience.And(var parts) -> joined(parts, " and ");
      case Audience.Or(var parts) -> joined(parts, " or ");
      case Audience.Not(var part) -> "not " + words(part);
    };
  }

  private static String joined(List<Audience> parts, String word) {
    return parts.stream().map(MessageRow::words).collect(Collectors.joining(word, "(", ")"));
  }

  private static JsonNode tree(String json) {
    try {
      return WireForm.mapper().readTree(json);
    } catch (JacksonException e) {
      return MissingNode.getInstance();
    }
  }
}
