package io.pushplanet.dashboard.audit;

import java.util.Locale;

/// What can be found in the audit log, and the tag of its counter.
public enum AuditAction {
  LOGIN,
  LOGIN_FAILED,
  LOGIN_LOCKED,
  LOGOUT,
  APP_CREATED,
  KEY_CREATED,
  KEY_REVOKED,
  CREDENTIAL_UPLOADED,
  CREDENTIAL_TRIED,
  CREDENTIAL_ACTIVATED,
  CREDENTIAL_ACTIVATED_ANYWAY,
  CREDENTIAL_ROLLED_BACK,
  CREDENTIAL_RETIRED,
  CREDENTIALS_RESEALED,
  OPERATOR_CREATED,
  OPERATOR_CHANGED,
  OPERATOR_UNLOCKED,
  OPERATOR_DELETED,
  PASSWORD_CHANGED,
  NODE_DRAINED,
  NODE_DRAIN_CANCELLED,
  TEST_PUSH,
  DEAD_LETTER_READ,
  DEAD_LETTER_REPLAYED,
  DEAD_LETTER_DROPPED;

  /// `key_revoked`
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
