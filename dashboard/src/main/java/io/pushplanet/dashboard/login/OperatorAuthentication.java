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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
import org.springframework.util.StringUtils;

/// Checks the password of an operator, at the login and before the password is changed. Five wrong
/// passwords lock the name for a quarter of an hour, even when they are tried at once; then the
/// count starts again. This bounds what an attack on one name can cost. Of names without an
/// operator only one is checked at a time, wherever they come from, and the others are refused at
/// once, so that a flood of them takes at most one thread and one core. A single check of such a
/// name takes as long as that of a wrong password.
@Component
class OperatorAuthentication implements AuthenticationProvider {
  private static final Logger LOG = LoggerFactory.getLogger(OperatorAuthentication.class);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

  /// How many passwords may wait to be checked. Each of them holds a thread of the web server,
  /// which all pages share. Two cores check this many within [#LONGEST_WAIT].
  static final int MAX_WAITING = 16;

  private static final int LONGEST_ADDRESS = 64;

  private final OperatorMapper operators;
  private final FirstOperator firstOperator;
  private final PasswordEncoder passwords;
  private final AuditLog audit;
  private final WrongLogins wrongLogins;
  private final Clock clock;
  private final Semaphore checks;
  private final Semaphore places;
  private final Semaphore strangers = new Semaphore(1);
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
    this.checks = new Semaphore(settings.maxPasswordChecks(), true);
    this.places = new Semaphore(settings.maxPasswordChecks() + MAX_WAITING);
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
    String address = addressOf(login);
    firstOperator.ensure();
    String password = String.valueOf(login.getCredentials());
    Optional<Operator> found = operators.find(name);
    if (found.isEmpty()) {
      checkStranger(password);
      wrongLogins.ofUnknown(name, address);
      throw refused();
    }
    Operator operator = proven(found.get(), name, password, "wrong password, from " + address);
    operators.loggedIn(name, clock.instant());
    audit.record(name, AuditAction.LOGIN, name, "logged in");
    SignedIn signedIn = SignedIn.of(operator);
    return UsernamePasswordAuthenticationToken.authenticated(
        signedIn, null, operator.role().authorities());
  }

  /// Behind a proxy this is the address that the proxy gives.
  private static String addressOf(Authentication login) {
    return login.getDetails() instanceof WebAuthenticationDetails web
        ? StringUtils.truncate(web.getRemoteAddress(), LONGEST_ADDRESS)
        : "an unknown address";
  }

  /// A login that is refused because another one is checked gets its answer sooner than a wrong
  /// password, and thereby learns that the name does not exist. A lock reveals that as well. To let
  /// such logins wait would cost a thread each.
  private void checkStranger(String password) {
    if (!strangers.tryAcquire()) {
      return;
    }
    try {
      boolean _ = matches(password, nobodysPassword);
    } finally {
      strangers.release();
    }
  }

  /// The fault of a present password, which is asked for before the password is changed. A thief of
  /// a session can guess it no more often than at the login.
  Optional<String> objectionTo(String name, String presentPassword) {
    try {
      Operator operator = operators.find(name).orElseThrow(OperatorAuthentication::refused);
      proven(operator, name, presentPassword, "wrong present password");
      return Optional.empty();
    } catch (BadCredentialsException e) {
      return Optional.of("The current password is wrong.");
    } catch (LockedException e) {
      return Optional.of(
          "Too many wrong passwords: your name is locked for 15 minutes after the fifth. Wait, or ask an admin to unlock it.");
    } catch (TurnedAwayException e) {
      return Optional.of("Too many passwords are being checked at the moment. Try again shortly.");
    }
  }

  /// @param ifWrong the text of the audit log for a wrong password
  private Operator proven(Operator operator, String name, String password, String ifWrong) {
    if (operator.isLocked(clock.instant())) {
      throw locked();
    }
    if (!matches(password, operator.password())) {
      throw wrongLogins.lockAfter(name, ifWrong) ? locked() : refused();
    }
    if (operators.proved(name, clock.instant()) == 0) {
      throw locked();
    }
    return operator;
  }

  private static LockedException locked() {
    return new LockedException("locked");
  }

  private static BadCredentialsException refused() {
    return new BadCredentialsException("refused");
  }

  /// A check costs much CPU on purpose, so a flood of logins must take neither all of the CPU nor,
  /// while it waits, all threads.
  private boolean matches(String password, String stored) {
    if (!places.tryAcquire()) {
      // Not logged: a stranger could cause such lines as cheaply as requests.
      throw new TurnedAwayException("too many logins at once");
    }
    try {
      return inTurn(() -> Passwords.fits(password) && passwords.matches(password, stored));
    } finally {
      places.release();
    }
  }

  /// Too many passwords are checked at once, so this one is not. The right one may be tried again.
  static final class TurnedAwayException extends AuthenticationServiceException {
    @Serial private static final long serialVersionUID = 1;

    TurnedAwayException(String why) {
      super(why);
    }
  }

  private boolean inTurn(BooleanSupplier check) {
    try {
      if (!checks.tryAcquire(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn("event=login_unavailable reason=\"the passwords before took too long\"");
        throw new TurnedAwayException("the passwords before took too long");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TurnedAwayException("interrupted");
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
