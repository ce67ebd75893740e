package io.pushplanet.dispatcher.push;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.dispatcher.audience.AudienceReader;
import io.pushplanet.dispatcher.input.Bodies;
import io.pushplanet.dispatcher.input.Fields;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads and validates a send request. It reports every fault.
final class SendRequestReader {
  /// Texts have no limit of their own: a text that is too long for every provider gets a 413 that
  /// says so.
  private static final int LONGEST_TEXT = Bodies.MAX_MESSAGE_BYTES;

  /// Longer than the platform waits ([DeliveryOptions#LONGEST_FALLBACK_AFTER]). Earlier versions
  /// accepted this, so it is still accepted.
  private static final Duration LONGEST_FALLBACK = Duration.ofMinutes(10);

  /// FCM refuses these as keys of `data`
  /// (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#Message.FIELDS.data).
  private static final Pattern RESERVED_BY_FCM =
      Pattern.compile("from|message_type|google.*|gcm.*");

  /// Fields of FCM's message that name its target, which the audience does here.
  private static final List<String> FCM_TARGETS = List.of("token", "fid", "topic", "condition");

  /// The same fields of Push Kit's message.
  private static final List<String> HMS_TARGETS = List.of("token", "topic", "condition");

  /// Fields that other platforms have for scheduling.
  private static final List<String> SCHEDULING =
      List.of("send_at", "send_after", "schedule", "scheduled_at", "deliver_at");

  private SendRequestReader() {}

  /// @throws ProblemException 422 with every fault, or 413 when the message is too large for a
  ///     provider
  static SendRequest read(ObjectNode body) {
    Findings findings = new Findings();
    Fields request = new Fields(body, "", findings);
    Audience audience = AudienceReader.read(request);
    DeliveryOptions delivery = delivery(request);
    boolean overChannel = audience instanceof Audience.ActivityChannel;
    LiveActivity activity = LiveActivityReader.read(request, overChannel);
    boolean isActivity = request.has("live_activity");
    Content content =
        isActivity && !request.has("content") ? silent(activity) : content(request, delivery);
    Overrides given = overrides(request);
    if (audience instanceof Audience.FcmFollowers
        && delivery != null
        && delivery.route() == Route.MQTT) {
      findings.add(
          "/delivery/route",
          "not_over_mqtt",
          "only Google knows who follows its topics; leave the route out");
    }
    if (isActivity) {
      checkActivity(request, audience, delivery);
    } else if (overChannel) {
      request.wrong(
          "live_activity", "required", "a channel carries Live Activities: give live_activity");
    }
    refuseScheduling(request);
    request.done();
    findings.refuse();
    if (audience == null || content == null || delivery == null) {
      throw new IllegalStateException("a fault was found but not told");
    }
    SendRequest read = request(audience, content, delivery, given, activity);
    PayloadSizes.check(read);
    return read;
  }

  private static void refuseScheduling(Fields fields) {
    fields.refuse(
        SCHEDULING,
        "scheduling_not_supported",
        "scheduling is not supported yet: send the message when it is time");
  }

  private static SendRequest request(
      Audience audience,
      Content content,
      DeliveryOptions delivery,
      Overrides given,
      @Nullable LiveActivity activity) {
    if (audience instanceof Audience.FcmFollowers) {
      return new SendRequest(audience, content, delivery.over(Route.VENDOR), given.ofFcmAlone());
    }
    // Over MQTT no override is used: they would only make the message larger.
    Overrides overrides = delivery.route() == Route.MQTT ? Overrides.NONE : given;
    return activity == null
        ? new SendRequest(audience, content, delivery, overrides)
        : new SendRequest(audience, content, delivery.over(Route.VENDOR), overrides.with(activity));
  }

  /// The content that the timeline shows for an activity without an alert.
  private static @Nullable Content silent(@Nullable LiveActivity activity) {
    return activity == null
        ? null
        : new Content(
            null, null, Map.of("live_activity", activity.event().name().toLowerCase(Locale.ROOT)));
  }

  private static void checkActivity(
      Fields request, @Nullable Audience audience, @Nullable DeliveryOptions delivery) {
    boolean one =
        audience instanceof Audience.ActivityChannel
            || (audience instanceof Audience.Devices(List<DeviceId> devices)
                && devices.size() == 1);
    if (audience != null && !one) {
      request.wrong(
          "live_activity",
          "one_device",
          "its token is one device's: the audience is that device, or a channel");
    }
    if (delivery != null && delivery.route() == Route.MQTT) {
      request.wrong("live_activity", "not_over_mqtt", "only APNs carries it; leave the route out");
    }
  }

  private static @Nullable Content content(Fields request, @Nullable DeliveryOptions delivery) {
    Fields content = request.fields("content");
    if (content == null) {
      if (!request.has("content")) {
        request.wrong("content", "required", "content is required: a title, a body or data");
      }
      return null;
    }
    String title = content.text("title", LONGEST_TEXT);
    String body = content.text("body", LONGEST_TEXT);
    Map<String, String> data = data(content, delivery);
    content.done();
    if (!content.has("title") && !content.has("body") && !content.has("data")) {
      request.wrong("content", "empty", "content needs a title, a body or data");
      return null;
    }
    if (title == null && body == null && data.isEmpty()) {
      if (!content.findings().any()) {
        request.wrong("content", "empty", "content needs a title, a body or data");
      }
      return null;
    }
    return new Content(title, body, data);
  }

  private static Map<String, String> data(Fields content, @Nullable DeliveryOptions delivery) {
    ObjectNode node = content.object("data");
    if (node == null) {
      return Map.of();
    }
    Fields data = new Fields(node, content.at("data"), content.findings());
    boolean vendors = delivery == null || delivery.route() != Route.MQTT;
    Map<String, String> read = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      String key = entry.getKey();
      if (!entry.getValue().isString()) {
        data.wrong(key, "not_a_string", "values in data are strings; FCM takes nothing else");
        continue;
      }
      String value = entry.getValue().stringValue();
      if (!value.isEmpty() && data.text(key, LONGEST_TEXT) == null) {
        continue;
      }
      if (vendors && RESERVED_BY_FCM.matcher(key).matches()) {
        data.wrong(key, "reserved_key", "FCM reserves this key; use another, or route \"mqtt\"");
      }
      if (vendors && key.equals("aps")) {
        data.wrong(key, "reserved_key", "APNs reserves \"aps\"; set it under overrides.apns");
      }
      read.put(key, value);
    }
    return read;
  }

  private static @Nullable DeliveryOptions delivery(Fields request) {
    Fields delivery = request.fields("delivery");
    if (delivery == null) {
      return DeliveryOptions.DEFAULT;
    }
    Route route = delivery.word("route", Route.class);
    Duration ttl = delivery.duration("ttl", DeliveryOptions.LONGEST_TTL);
    Urgency urgency = delivery.word("priority", Urgency.class);
    String collapseKey = delivery.key("collapse_key", LONGEST_TEXT);
    Duration fallbackAfter = delivery.duration("fallback_after", LONGEST_FALLBACK);
    if (collapseKey != null) {
      int bytes = collapseKey.getBytes(StandardCharsets.UTF_8).length;
      if (bytes > DeliveryOptions.LONGEST_COLLAPSE_KEY_BYTES) {
        delivery.wrong(
            "collapse_key",
            "too_long",
            "collapse_key has "
                + bytes
                + " bytes in UTF-8; at most "
                + DeliveryOptions.LONGEST_COLLAPSE_KEY_BYTES);
        collapseKey = null;
      }
    }
    refuseScheduling(delivery);
    delivery.done();
    return new DeliveryOptions(
        route == null ? Route.AUTO : route,
        ttl == null ? DeliveryOptions.DEFAULT_TTL : ttl,
        urgency == null ? Urgency.HIGH : urgency,
        collapseKey,
        fallbackAfter == null ? DeliveryOptions.DEFAULT_FALLBACK_AFTER : fallbackAfter);
  }

  private static Overrides overrides(Fields request) {
    Fields overrides = request.fields("overrides");
    if (overrides == null) {
      return Overrides.NONE;
    }
    ObjectNode apns = overrides.tree("apns");
    ObjectNode fcm = overrides.tree("fcm");
    ObjectNode webpush = overrides.tree("webpush");
    ObjectNode hms = overrides.tree("hms");
    overrides.done();
    if (hms != null) {
      noTargets(new Fields(hms, overrides.at("hms"), overrides.findings()), HMS_TARGETS);
    }
    if (fcm != null) {
      Fields message = new Fields(fcm, overrides.at("fcm"), overrides.findings());
      noTargets(message, FCM_TARGETS);
      ObjectNode data = message.object("data");
      if (data != null) {
        fcmData(new Fields(data, message.at("data"), overrides.findings()), data);
      }
    }
    return new Overrides(apns, fcm, webpush, hms);
  }

  private static void noTargets(Fields message, List<String> targets) {
    targets.stream()
        .filter(message::mentions)
        .forEach(name -> message.wrong(name, "reserved_key", "the audience says whom it is for"));
  }

  private static void fcmData(Fields data, ObjectNode node) {
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      if (!entry.getValue().isString()) {
        data.wrong(entry.getKey(), "not_a_string", "FCM takes only strings in data");
      }
      if (RESERVED_BY_FCM.matcher(entry.getKey()).matches()) {
        data.wrong(entry.getKey(), "reserved_key", "FCM reserves this key; use another");
      }
    }
  }
}
