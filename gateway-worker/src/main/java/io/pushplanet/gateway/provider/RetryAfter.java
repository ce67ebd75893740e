package io.pushplanet.gateway.provider;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;

/// Reads `Retry-After`: seconds or an HTTP date
/// (https://www.rfc-editor.org/rfc/rfc9110#name-retry-after).
public final class RetryAfter {
  /// Longer than any provider asks for. Longer waits are cut to this.
  static final Duration LONGEST = Duration.ofDays(1);

  private RetryAfter() {}

  /// How long to wait from `now`; empty when the header cannot be read.
  public static Optional<Duration> parse(String header, Instant now) {
    String value = header.strip();
    try {
      if (!value.isEmpty() && value.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return Optional.of(
            value.length() > 9 ? LONGEST : bounded(Duration.ofSeconds(Long.parseLong(value))));
      }
      Instant at = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Optional.of(bounded(Duration.between(now, at)));
    } catch (DateTimeParseException e) {
      return Optional.empty();
    }
  }

  private static Duration bounded(Duration wait) {
    if (wait.isNegative()) {
      return Duration.ZERO;
    }
    return wait.compareTo(LONGEST) > 0 ? LONGEST : wait;
  }
}
