package io.pushplanet.simulators.script;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Durations as people write them in options, scenarios and rules.
public final class Durations {
  private static final Pattern SHORT_FORM = Pattern.compile("([0-9]+)(ms|s|m|h)");

  private Durations() {}

  /// @throws IllegalArgumentException when the text is no duration
  public static Duration parse(String text) {
    Matcher shortForm = SHORT_FORM.matcher(text);
    if (shortForm.matches()) {
      String iso = shortForm.group(2).toUpperCase(Locale.ROOT);
      return iso.equals("MS")
          ? Duration.ofMillis(Long.parseLong(shortForm.group(1)))
          : Duration.parse("PT" + shortForm.group(1) + iso);
    }
    try {
      return Duration.parse(text);
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("\"" + text + "\" is no duration: 500ms, 10s, PT1M", e);
    }
  }
}
