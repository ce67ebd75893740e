package io.pushplanet.dashboard.node;

import java.util.Locale;

/// Short times in words, with the unit and the digits that suit them.
final class TimeText {
  private TimeText() {}

  /// `0.13 ms`, `1.4 ms`, `42 ms`, `2.0 s`
  static String of(double millis) {
    if (millis >= 1_000) {
      return String.format(Locale.ROOT, "%.1f s", millis / 1_000);
    }
    String form = millis < 1 ? "%.2f ms" : millis < 10 ? "%.1f ms" : "%.0f ms";
    return String.format(Locale.ROOT, form, millis);
  }
}
