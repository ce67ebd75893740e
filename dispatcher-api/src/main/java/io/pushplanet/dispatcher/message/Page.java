package io.pushplanet.dispatcher.message;

import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.input.Findings;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// The part of a list that a request asks for.
///
/// @param after the id at which the page before ended, or null at the start
public record Page(int limit, @Nullable String after) {
  private static final int USUAL = 100;
  private static final int MAX = 1_000;

  /// @param isId whether a text has the form of the ids by which the list is sorted. A cursor
  ///     contains one: with the cursor of another list, the page would begin anywhere, and for some
  ///     texts MySQL refuses the comparison with an id
  /// @throws io.pushplanet.dispatcher.problem.ProblemException 422
  public static Page read(@Nullable String limit, @Nullable String cursor, Predicate<String> isId) {
    Findings findings = new Findings();
    int rows = limit(limit, findings);
    String after = null;
    if (cursor != null && !cursor.isEmpty()) {
      after = position(cursor, isId);
      if (after == null) {
        findings.add(
            "?cursor",
            "not_a_cursor",
            "take cursor from next_cursor of the page before in this list");
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

  private static @Nullable String position(String cursor, Predicate<String> isId) {
    try {
      String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
      return isId.test(text) ? text : null;
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
