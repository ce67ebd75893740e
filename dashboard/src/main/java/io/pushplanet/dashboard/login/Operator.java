package io.pushplanet.dashboard.login;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A row of `operators`.
record Operator(
    String name,
    String password,
    Role role,
    int failedLogins,
    @Nullable Instant lockedUntil,
    Instant createdAt,
    @Nullable Instant lastLoginAt) {
  public boolean isLocked(Instant now) {
    return lockedUntil != null && lockedUntil.isAfter(now);
  }

  @Override
  public String toString() {
    return "Operator[" + name + ", " + role.word() + "]";
  }
}
