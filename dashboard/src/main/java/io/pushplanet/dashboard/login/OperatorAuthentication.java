package io.pushplanet.dashboard.login;

import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.io.Serial;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.springframework.dao.DataAccessException;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.LockedException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.security.web.authentication.WebAuthenticationDetails;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/// How an operator gets in, and proves to be the one before the password is changed. Five wrong passwords lock the name for a
/// quarter of an hour, also when many are tried at once; then the count starts again. An unknown name costs the same time as a wrong
/// password. An address that failed too often may be that of a proxy, and everybody's: who has a name gets in from there as from
/// elsewhere, and names that are made up there take one thread and one core at most, and are not written down.
@Component
class OperatorAuthentication implements AuthenticationProvider {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

  /// Passwords that wait to be checked: each has a thread of the web server, which all pages share. Two cores check so many within
  /// [#LONGEST_WAIT].
  static final int MOST_WAITING = 16;

  private final OperatorMapper operators;
  private final FirstOperator firstOperator;
  private final PasswordEncoder passwords;
  private final AuditLog audit;
  private final WrongLogins wrongLogins;
  private final Clock clock;
  private final Semaphore checks;
  private final Semaphore places;
  private final Semaphore madeUp = new Semaphore(1);
  private final String nobodysPassword;

  OperatorAuthentication(
      OperatorMapper operators,
      FirstOperator firstOperator,
      PasswordEncoder passwords,
      AuditLog audit,
      WrongLogins wrongLogins,
      Clock clock,
      DashboardSettings settings) {
    this.operators = operators;
    this.firstOperator = firstOperator;
    this.passwords = passwords;
    this.audit = audit;
    this.wrongLogins = wrongLogins;
    this.clock = clock;
    this.checks = new Semaphore(settings.mostPasswordChecks(), true);
    this.places = new Semaphore(settings.mostPasswordChecks() + MOST_WAITING);
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
    String address =
        login.getDetails() instanceof WebAuthenticationDetails web ? web.getRemoteAddress() : "";
    firstOperator.ensure();
    String password = String.valueOf(login.getCredentials());
    Operator operator =
        wrongLogins.tooManyFrom(address)
            ? fromCrowd(name, password)
            : counted(name, password, address);
    operators.loggedIn(name, clock.instant());
    audit.record(name, AuditAction.LOGIN, name, "logged in");
    SignedIn signedIn = SignedIn.of(operator);
    return UsernamePasswordAuthenticationToken.authenticated(
        signedIn, null, operator.role().authorities());
  }

  private Operator counted(String name, String password, String address) {
    try {
      return proven(name, password, "wrong password");
    } catch (BadCredentialsException | LockedException e) {
      if (e instanceof UnknownNameException) {
        wrongLogins.ofUnknown(name);
      }
      wrongLogins.from(address, name);
      throw e;
    }
  }

  /// Wrong passwords lock a name, so that only made-up names can come without end. While one of them is checked the others are
  /// refused at once: that tells a stranger which names exist, as a lock does.
  private Operator fromCrowd(String name, String password) {
    if (operators.find(name).isPresent()) {
      return proven(name, password, "wrong password");
    }
    if (!madeUp.tryAcquire()) {
      throw new UnknownNameException();
    }
    try {
      return proven(name, password, "wrong password");
    } finally {
      madeUp.release();
    }
  }

  /// What is wrong with a present password, which is asked for before it is changed: whoever holds a stolen session can guess
  /// there no more often than at the login.
  Optional<String> objectionTo(String name, String presentPassword) {
    try {
      proven(name, presentPassword, "wrong present password");
      return Optional.empty();
    } catch (BadCredentialsException e) {
      return Optional.of("The present password is not right.");
    } catch (LockedException e) {
      return Optional.of(
          "Too many wrong passwords: your name is locked for 15 minutes after the fifth. Wait, or ask an admin to unlock it.");
    } catch (AuthenticationServiceException e) {
      return Optional.of("Too many passwords are checked just now. Try again in a moment.");
    }
  }

  /// @param ifWrong what the audit log says of a wrong password
  private Operator proven(String name, String password, String ifWrong) {
    Optional<Operator> found = operators.find(name);
    if (found.isPresent() && found.get().isLocked(clock.instant())) {
      throw locked();
    }
    boolean right = matches(password, found.map(Operator::password).orElse(nobodysPassword));
    if (found.isEmpty()) {
      throw new UnknownNameException();
    }
    if (!right) {
      throw wrongLogins.lockAfter(name, ifWrong) ? locked() : refused();
    }
    if (operators.proved(name, clock.instant()) == 0) {
      throw locked();
    }
    return found.get();
  }

  private static final class UnknownNameException extends BadCredentialsException {
    @Serial private static final long serialVersionUID = 1;

    UnknownNameException() {
      super("refused");
    }
  }

  private static LockedException locked() {
    return new LockedException("locked");
  }

  private static BadCredentialsException refused() {
    return new BadCredentialsException("refused");
  }

  /// A check costs much CPU on purpose, so a flood of logins must not take all of it; nor all threads while it waits.
  private boolean matches(String password, String stored) {
    if (!places.tryAcquire()) {
      throw new TurnedAwayException();
    }
    try {
      return inTurn(() -> Passwords.fits(password) && passwords.matches(password, stored));
    } finally {
      places.release();
    }
  }

  /// As many passwords wait as may.
  static final class TurnedAwayException extends AuthenticationServiceException {
    @Serial private static final long serialVersionUID = 1;

    TurnedAwayException() {
      super("too many logins at once");
    }
  }

  private boolean inTurn(BooleanSupplier check) {
    try {
      if (!checks.tryAcquire(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new AuthenticationServiceException("the passwords before took too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AuthenticationServiceException("interrupted", e);
    }
    try {
      return check.getAsBoolean();
    } finally {
      checks.release();
    }
  }

  @Override
  public boolean supports(Class<?> authentication) {
    return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
  }
}
