package io.pushplanet.dispatcher.message;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.input.Findings;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The part of a list that a request asks for.
///
/// @param sortedBy the ids by which the list is sorted
/// @param after the id at which the page before ended, or null at the start
public record Page(SortedBy sortedBy, int limit, @Nullable String after) {
  private static final int USUAL = 100;
  private static final int MAX = 1_000;

  /// The ids by which a list is sorted. A cursor is such an id and says which kind it is: with the
  /// cursor of another kind of list, the page would begin anywhere. The form of the id does not say
  /// it, because a device may be named like a message.
  public enum SortedBy {
    DEVICE,
    MESSAGE,
    ACTIVITY_CHANNEL;

    private String prefix() {
      return name().toLowerCase(Locale.ROOT) + "/";
    }

    /// With some texts that are no ids MySQL refuses to compare an id.
    private boolean isId(String text) {
      return switch (this) {
        case DEVICE -> DeviceId.isValid(text);
        case MESSAGE -> MessageId.isValid(text);
        case ACTIVITY_CHANNEL -> ActivityChannelId.isValid(text);
      };
    }
  }

  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422 when the limit is out of range,
  ///     or the cursor is none of a list that is sorted so
  public static Page read(@Nullable String limit, @Nullable String cursor, SortedBy sortedBy) {
    Findings findings = new Findings();
    int rows = limit(limit, findings);
    String after = null;
    if (cursor != null && !cursor.isEmpty()) {
      after = position(cursor, sortedBy);
      if (after == null) {
        findings.add(
            "?cursor",
            "not_a_cursor",
            "take cursor from next_cursor of the page before in this list");
      }
    }
    findings.refuse();
    return new Page(sortedBy, rows, after);
  }

  public static int limit(@Nullable String limit, Findings findings) {
    if (limit == null) {
      return USUAL;
    }
    int rows = limit.matches("[0-9]{1,4}") ? Integer.parseInt(limit) : 0;
    if (rows < 1 || rows > MAX) {
      findings.add("?limit", "out_of_range", "limit is 1 to " + MAX);
    }
    return rows;
  }

  private static @Nullable String position(String cursor, SortedBy sortedBy) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      if (!text.startsWith(sortedBy.prefix())) {
        return null;
      }
      String id = text.substring(sortedBy.prefix().length());
      return sortedBy.isId(id) ? id : null;
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /// `{data, next_cursor}`; the last page has no cursor.
  ///
  /// @param rows up to one more than the limit
  public <T> ObjectNode form(
      List<T> rows, Function<T, ObjectNode> each, Function<T, String> position) {
    ObjectNode form = WireForm.mapper().createObjectNode();
    ArrayNode data = form.putArray("data");
    rows.stream().limit(limit).map(each).forEach(data::add);
    if (rows.size() > limit) {
      String last = sortedBy.prefix() + position.apply(rows.get(limit - 1));
      form.put(
          "next_cursor",
          Base64.getUrlEncoder()
              .withoutPadding()
              .encodeToString(last.getBytes(StandardCharsets.UTF_8)));
    } else {
      form.putNull("next_cursor");
    }
    return form;
  }
}
