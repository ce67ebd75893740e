package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Attempt;
import java.util.Collection;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A provider's explanation in its own words, made fit for a timeline: one short line, without the
/// message's tokens and without words as long as a token or a key.
public final class Explanation {
  /// Longer than any field's name, and no longer than most tokens. A Firebase installation's id has
  /// 22 letters.
  private static final Pattern LONG_WORD = Pattern.compile("[^\\s\"',;()]{64,}");

  private static final Pattern BLANK = Pattern.compile("[\\s\\p{C}]+");

  private Explanation() {}

  /// @param tokens the message's: they are left out, however short they are
  /// @return null when the explanation is empty
  public static @Nullable String of(String words, Collection<String> tokens) {
    // Bodies may have any length.
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
