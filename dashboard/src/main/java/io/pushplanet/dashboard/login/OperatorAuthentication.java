package io.pushplanet.dashboard.login;

import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.springframework.dao.DataAccessException;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/// How an operator gets in. Five wrong passwords lock the name for a quarter of an hour, also when many are tried at once; then
/// the count starts again. An unknown name costs the same time as a wrong password.
@Component
class OperatorAuthentication implements AuthenticationProvider {
  static final int MOST_FAILURES = 5;
  static final Duration LOCK = Duration.ofMinutes(15);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

  private final OperatorMapper operators;
  private final FirstOperator firstOperator;
  private final PasswordEncoder passwords;
  private final AuditLog audit;
  private final Clock clock;
  private final Semaphore checks;
  private final String nobodysPassword;

  OperatorAuthentication(
      OperatorMapper operators,
      FirstOperator firstOperator,
      PasswordEncoder passwords,
      AuditLog audit,
      Clock clock,
      DashboardSettings settings) {
    this.operators = operators;
    this.firstOperator = firstOperator;
    this.passwords = passwords;
    this.audit = audit;
    this.clock = clock;
    this.checks = new Semaphore(settings.mostPasswordChecks());
    this.nobodysPassword = String.valueOf(passwords.encode("nobody has this password"));
  }

  @Override
  public Authentication authenticate(Authentication login) {
    try {
      return check(login);
    } catch (DataAccessException | TransactionException e) {
      throw LoginConfiguration.unavailable(e);
    }
  }

  private Authentication check(Authentication login) {
    String name = login.getName();
    String password = String.valueOf(login.getCredentials());
    firstOperator.ensure();
    Optional<Operator> found = operators.find(name);
    if (found.isPresent() && found.get().isLocked(clock.instant())) {
      throw lockedOut(name);
    }
    boolean right = matches(password, found.map(Operator::password).orElse(nobodysPassword));
    if (found.isEmpty() || !right) {
      throw refused(name, found.isPresent());
    }
    if (operators.loggedIn(name, clock.instant()) == 0) {
      throw lockedOut(name);
    }
    audit.record(name, AuditAction.LOGIN, name, "logged in");
    Operator operator = found.get();
    SignedIn signedIn = SignedIn.of(operator);
    return UsernamePasswordAuthenticationToken.authenticated(
        signedIn, null, operator.role().authorities());
  }

  private LockedException lockedOut(String name) {
    audit.record(name, AuditAction.LOGIN_LOCKED, name, "refused while locked");
    return new LockedException("locked");
  }

  private RuntimeException refused(String name, boolean known) {
    Instant now = clock.instant();
    audit.record(name, AuditAction.LOGIN_FAILED, name, known ? "wrong password" : "unknown name");
    if (known) {
      operators.failed(name, now, MOST_FAILURES, now.plus(LOCK));
      if (operators.find(name).filter(operator -> operator.isLocked(now)).isPresent()) {
        audit.record(
            name, AuditAction.LOGIN_LOCKED, name, "locked after " + MOST_FAILURES + " failures");
        return new LockedException("locked");
      }
    }
    return new BadCredentialsException("refused");
  }

  /// A check costs much CPU on purpose, so a flood of logins must not take all of it.
  private boolean matches(String password, String stored) {
    try {
      if (!checks.tryAcquire(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AuthenticationServiceException("too many logins at once");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AuthenticationServiceException("interrupted", e);
    }
    try {
      return Passwords.fits(password) && passwords.matches(password, stored);
    } finally {
      checks.release();
    }
  }

  @Override
  public boolean supports(Class<?> authentication) {
    return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
  }
}
