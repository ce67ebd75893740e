package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Attempt;
import java.util.Collection;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A provider's explanation in its own words, made fit for a timeline: one short line, without the tokens it was sent to and whatever
/// is as long as a token or a key.
public final class Explanation {
  /// Longer than any name of a field, and no longer than most tokens; a Firebase installation's id has 22 letters.
  private static final Pattern LONG_WORD = Pattern.compile("[^\\s\"',;()]{64,}");

  private static final Pattern BLANK = Pattern.compile("[\\s\\p{C}]+");

  private Explanation() {}

  /// @param tokens to which the message went: left out, however short they are
  /// @return null where it says nothing
  public static @Nullable String of(String words, Collection<String> tokens) {
    // A body may be as long as it likes.
    String some = Attempt.shortened(words, 10 * Attempt.LONGEST_DETAIL);
    for (String token : tokens) {
      some = some.replace(token, "…");
    }
    String line = BLANK.matcher(LONG_WORD.matcher(some).replaceAll("…")).replaceAll(" ").strip();
    if (line.isEmpty()) {
      return null;
    }
    return line.length() <= Attempt.LONGEST_DETAIL
        ? line
        : Attempt.shortened(line, Attempt.LONGEST_DETAIL - 1) + "…";
  }
}
