package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Attempt;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A provider's explanation in its own words, made fit for a timeline: one short line, and no token or key in it.
public final class Explanation {
  /// Longer than any name of a field, and no longer than the shortest token, Apple's.
  private static final Pattern LONG_WORD = Pattern.compile("[^\\s\"',;()]{64,}");

  private static final Pattern BLANK = Pattern.compile("[\\s\\p{C}]+");

  private Explanation() {}

  /// @return null where it says nothing
  public static @Nullable String of(String words) {
    // A body may be as long as it likes.
    String some = words.substring(0, Math.min(words.length(), 10 * Attempt.LONGEST_DETAIL));
    String line = BLANK.matcher(LONG_WORD.matcher(some).replaceAll("…")).replaceAll(" ").strip();
    if (line.isEmpty()) {
      return null;
    }
    return line.length() <= Attempt.LONGEST_DETAIL
        ? line
        : line.substring(0, Attempt.LONGEST_DETAIL - 1) + "…";
  }
}
