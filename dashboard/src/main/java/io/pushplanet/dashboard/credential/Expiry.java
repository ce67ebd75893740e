package io.pushplanet.dashboard.credential;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// How urgent the expiry of a credential is. It is announced 30, 14, 7 days and one day before.
enum Expiry {
  NEVER("good", "no expiry"),
  FAR("good", ""),
  DAYS_30("info", "expires within 30 days"),
  DAYS_14("warn", "expires within 14 days"),
  DAYS_7("warn", "expires within 7 days"),
  DAY_1("bad", "expires within a day"),
  EXPIRED("bad", "expired");

  private final String tone;
  private final String words;

  Expiry(String tone, String words) {
    this.tone = tone;
    this.words = words;
  }

  static Expiry of(@Nullable Instant expiresAt, Instant now) {
    if (expiresAt == null) {
      return NEVER;
    }
    Duration left = Duration.between(now, expiresAt);
    if (!left.isPositive()) {
      return EXPIRED;
    }
    if (left.compareTo(Duration.ofDays(1)) <= 0) {
      return DAY_1;
    }
    if (left.compareTo(Duration.ofDays(7)) <= 0) {
      return DAYS_7;
    }
    if (left.compareTo(Duration.ofDays(14)) <= 0) {
      return DAYS_14;
    }
    return left.compareTo(Duration.ofDays(30)) <= 0 ? DAYS_30 : FAR;
  }

  public String tone() {
    return tone;
  }

  public String words() {
    return words;
  }
}
