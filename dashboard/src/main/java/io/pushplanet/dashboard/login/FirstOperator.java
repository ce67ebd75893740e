package io.pushplanet.dashboard.login;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.settings.DatabaseAway;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/// Creates the admin of `dashboard.bootstrap-operator` while there is no operator at all: at the
/// start, or, when MySQL was away then, before a login. Thread-safe.
@Component
class FirstOperator {
  private static final Logger LOG = LoggerFactory.getLogger(FirstOperator.class);

  private final DashboardSettings.BootstrapOperator bootstrap;
  private final OperatorMapper operators;
  private final PasswordEncoder passwords;
  private final AuditLog audit;
  private final TransactionTemplate transaction;
  private final Clock clock;
  private final AtomicBoolean done = new AtomicBoolean();

  FirstOperator(
      DashboardSettings settings,
      OperatorMapper operators,
      PasswordEncoder passwords,
      AuditLog audit,
      TransactionTemplate transaction,
      Clock clock) {
    this.bootstrap = settings.bootstrapOperator();
    this.operators = operators;
    this.passwords = passwords;
    this.audit = audit;
    this.transaction = transaction;
    this.clock = clock;
  }

  @EventListener(ApplicationReadyEvent.class)
  void atStart() {
    try {
      ensure();
    } catch (DataAccessException | TransactionException e) {
      if (!DatabaseAway.isCauseOf(e)) {
        throw e;
      }
      LOG.warn("event=first_operator_postponed reason=database_away");
    }
  }

  void ensure() {
    if (done.get()) {
      return;
    }
    String name = bootstrap.name();
    Secret password = bootstrap.password();
    if (operators.any()) {
      done.set(true);
      return;
    }
    if (name == null || name.isBlank() || password == null || password.reveal().isEmpty()) {
      LOG.warn(
          "event=no_operator hint=\"set dashboard.bootstrap-operator.name and .password to create one\"");
      return;
    }
    String encoded = String.valueOf(passwords.encode(password.reveal()));
    try {
      transaction.executeWithoutResult(_ -> {
        operators.insert(name, encoded, Role.ADMIN, clock.instant());
        audit.record(name, AuditAction.OPERATOR_CREATED, name, "first operator, from the settings");
      });
      LOG.info("event=first_operator_created name={}", name);
    } catch (DuplicateKeyException e) {
      LOG.info("event=first_operator_exists name={}", name);
    }
    done.set(true);
  }
}
