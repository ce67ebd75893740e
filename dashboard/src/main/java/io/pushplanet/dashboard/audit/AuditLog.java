package io.pushplanet.dashboard.audit;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import org.springframework.stereotype.Component;

/// Records every change and every login. It is called in the transaction of the change, so that the
/// entry exists exactly when the change does. An action outside of transactions, such as a push or
/// an order to a node, is recorded before it is done, and again when its result matters.
/// Thread-safe.
@Component
public class AuditLog {
  private static final int LONGEST_SUBJECT = 255;
  private static final int LONGEST_OPERATOR = 100;

  private final AuditMapper rows;
  private final Clock clock;
  private final MeterRegistry meters;

  AuditLog(AuditMapper rows, Clock clock, MeterRegistry meters) {
    this.rows = rows;
    this.clock = clock;
    this.meters = meters;
  }

  /// @param operator the operator who did it, or tried to
  /// @param subject the thing that was changed
  /// @param detail for people; never a secret
  public void record(String operator, AuditAction action, String subject, String detail) {
    rows.insert(
        clock.instant(),
        cut(operator, LONGEST_OPERATOR),
        action.word(),
        cut(subject, LONGEST_SUBJECT),
        detail);
    meters.counter("dashboard.audit.entries", "action", action.word()).increment();
  }

  private static String cut(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most);
  }
}
