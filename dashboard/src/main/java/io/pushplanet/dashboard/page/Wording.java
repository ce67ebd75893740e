package io.pushplanet.dashboard.page;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// How numbers and times are written on pages: `${@wording.time(…)}`. Times are UTC.
@Component("wording")
public final class Wording {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final Clock clock;

  Wording(Clock clock) {
    this.clock = clock;
  }

  public String time(@Nullable Instant at) {
    return at == null ? "never" : TIME.format(at);
  }

  public String millis(Instant at) {
    return MILLIS.format(at);
  }

  public String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /// `3 min ago`
  public String ago(@Nullable Instant at) {
    if (at == null) {
      return "never";
    }
    Duration age = Duration.between(at, clock.instant());
    if (age.toSeconds() < 5) {
      return "just now";
    }
    if (age.toSeconds() < 100) {
      return age.toSeconds() + " s ago";
    }
    if (age.toMinutes() < 100) {
      return age.toMinutes() + " min ago";
    }
    return age.toHours() < 48 ? age.toHours() + " h ago" : age.toDays() + " days ago";
  }

  /// `APNs`, `FCM`
  public String channel(@Nullable String word) {
    return switch (word) {
      case null -> "-";
      case "apns" -> "APNs";
      case "fcm" -> "FCM";
      case "hms" -> "HMS";
      case "mqtt" -> "MQTT";
      case "webpush" -> "Web Push";
      default -> word;
    };
  }
}
