package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.LiveActivity.Event;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.dispatcher.input.Fields;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Reads `live_activity` of a send request, and reports every fault.
final class LiveActivityReader {
  private static final int LONGEST_TYPE = 256;
  private static final Pattern TOKEN =
      Pattern.compile("(?:[0-9a-fA-F]{2}){4," + ApnsToken.LONGEST_TOKEN / 2 + "}");

  private LiveActivityReader() {}

  /// @param overChannel whether the audience is a broadcast channel, which takes neither a token
  ///     nor a start
  static @Nullable LiveActivity read(Fields request, boolean overChannel) {
    Fields activity = request.fields("live_activity");
    if (activity == null) {
      return null;
    }
    Event event = event(activity);
    String token =
        overChannel
            ? activity.text("token", ApnsToken.LONGEST_TOKEN)
            : activity.requiredText("token", ApnsToken.LONGEST_TOKEN);
    if (overChannel) {
      refuse(activity, "token", "the channel says where it goes");
      if (event == Event.START) {
        activity.wrong(
            "event", "not_allowed", "a channel carries update and end; start at a token");
      }
    } else if (token != null && !TOKEN.matcher(token).matches()) {
      activity.wrong(
          "token",
          "not_a_token",
          "an APNs token is hexadecimal, two digits a byte, 8 to 2,048 digits");
    }
    ObjectNode state = activity.tree("content_state");
    if (!activity.has("content_state")) {
      activity.wrong("content_state", "required", "content_state is required");
    }
    String type = activity.text("attributes_type", LONGEST_TYPE);
    ObjectNode attributes = activity.tree("attributes");
    if (event == Event.START) {
      require(activity, "attributes_type");
      require(activity, "attributes");
    } else if (event != null) {
      refuse(activity, "attributes_type", "only a start has attributes_type");
      refuse(activity, "attributes", "only a start has attributes");
    }
    Instant staleAt = time(activity, "stale_at");
    Instant dismissAt = time(activity, "dismiss_at");
    if (event != Event.END) {
      refuse(activity, "dismiss_at", "only an end has dismiss_at");
    }
    Double relevance = relevance(activity);
    activity.done();
    return activity.findings().any()
            || event == null
            || (token == null && !overChannel)
            || state == null
        ? null
        : new LiveActivity(
            event,
            token == null ? null : token.toLowerCase(Locale.ROOT),
            state,
            type,
            attributes,
            staleAt,
            dismissAt,
            relevance);
  }

  private static @Nullable Event event(Fields activity) {
    if (!activity.has("event")) {
      activity.wrong("event", "required", "event is one of start, update, end");
    }
    return activity.word("event", Event.class);
  }

  private static void require(Fields activity, String name) {
    if (!activity.has(name)) {
      activity.wrong(name, "required", "a start needs " + name);
    }
  }

  private static void refuse(Fields activity, String name, String why) {
    if (activity.has(name)) {
      activity.wrong(name, "not_allowed", why);
    }
  }

  private static @Nullable Instant time(Fields activity, String name) {
    String text = activity.text(name, 64);
    if (text == null) {
      return null;
    }
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      activity.wrong(name, "not_a_time", name + " is a time in UTC such as 2026-11-21T10:00:00Z");
      return null;
    }
  }

  private static @Nullable Double relevance(Fields activity) {
    JsonNode value = activity.value("relevance");
    if (value == null) {
      return null;
    }
    // A number may be larger than any double.
    double relevance = value.doubleValue(Double.NaN);
    if (!Double.isFinite(relevance)) {
      activity.wrong("relevance", "not_a_number", "relevance is a number");
      return null;
    }
    return relevance;
  }
}
