package io.pushplanet.dashboard.login;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// Counts and records wrong logins. A number of them locks the name, for all processes. For names
/// without an operator this process records only the first few of each minute, and then the 10th,
/// the 100th and so on: a stranger can make up any number of names, and could cause entries as
/// cheaply as requests. For the same reason, logins that a lock refuses are not recorded.
/// Thread-safe.
@Service
class WrongLogins {
  static final int MAX_OF_A_NAME = 5;
  static final Duration LOCK = Duration.ofMinutes(15);
  static final int FIRST_UNKNOWN = 5;

  private final OperatorMapper operators;
  private final AuditLog audit;
  private final Clock clock;

  @GuardedBy("this")
  private Instant minute = Instant.EPOCH;

  @GuardedBy("this")
  private long unknownInMinute;

  WrongLogins(OperatorMapper operators, AuditLog audit, Clock clock) {
    this.operators = operators;
    this.audit = audit;
    this.clock = clock;
  }

  void ofUnknown(String name, String address) {
    long unknown = oneMoreUnknown();
    if (unknown <= FIRST_UNKNOWN) {
      audit.record(name, AuditAction.LOGIN_FAILED, name, "unknown name, from " + address);
    } else if (isPowerOfTen(unknown)) {
      audit.record(
          name,
          AuditAction.LOGIN_FAILED,
          name,
          "unknown name, the " + unknown + "th in this minute, from " + address);
    }
  }

  private synchronized long oneMoreUnknown() {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MINUTES);
    if (!now.equals(minute)) {
      minute = now;
      unknownInMinute = 0;
    }
    return ++unknownInMinute;
  }

  private static boolean isPowerOfTen(long number) {
    return String.valueOf(number).matches("10+");
  }

  /// Runs in a transaction, so that exactly one of several simultaneous failures finds that it has
  /// locked the name.
  ///
  /// @param what the fault
  /// @return whether the name is locked now
  @Transactional
  boolean lockAfter(String name, String what) {
    Instant now = clock.instant();
    if (operators.failed(name, now, MAX_OF_A_NAME, now.plus(LOCK)) == 0) {
      return true;
    }
    audit.record(name, AuditAction.LOGIN_FAILED, name, what);
    boolean locks = operators.find(name).filter(operator -> operator.isLocked(now)).isPresent();
    if (locks) {
      audit.record(
          name, AuditAction.LOGIN_LOCKED, name, "locked after " + MAX_OF_A_NAME + " failures");
    }
    return locks;
  }
}
