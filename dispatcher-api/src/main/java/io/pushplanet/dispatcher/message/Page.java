package io.pushplanet.dispatcher.message;

import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.input.Findings;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The part of a list that a request asks for.
///
/// @param after the id at which the page before ended, or null at the start
public record Page(int limit, @Nullable String after) {
  private static final int USUAL = 100;
  private static final int MAX = 1_000;

  /// The form of an id, which is what a cursor contains. For other texts MySQL may refuse the
  /// comparison with an id.
  private static final Pattern POSITION = Pattern.compile("[\\x21-\\x7e]{1,64}");

  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422
  public static Page read(@Nullable String limit, @Nullable String cursor) {
    Findings findings = new Findings();
    int rows = limit(limit, findings);
    String after = null;
    if (cursor != null && !cursor.isEmpty()) {
      after = position(cursor);
      if (after == null) {
        findings.add("?cursor", "not_a_cursor", "take cursor from next_cursor of the page before");
      }
    }
    findings.refuse();
    return new Page(rows, after);
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

  private static @Nullable String position(String cursor) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      return POSITION.matcher(text).matches() ? text : null;
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
      byte[] last = position.apply(rows.get(limit - 1)).getBytes(StandardCharsets.UTF_8);
      form.put("next_cursor", Base64.getUrlEncoder().withoutPadding().encodeToString(last));
    } else {
      form.putNull("next_cursor");
    }
    return form;
  }
}
