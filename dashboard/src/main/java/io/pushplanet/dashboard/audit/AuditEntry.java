package io.pushplanet.dashboard.audit;

import java.time.Instant;

record AuditEntry(
    long id, Instant at, String operator, String action, String subject, String detail) {
  /// `key revoked`
  public String words() {
    return action.replace('_', ' ');
  }

  public boolean alarming() {
    return action.equals("login_failed") || action.equals("login_locked");
  }
}
