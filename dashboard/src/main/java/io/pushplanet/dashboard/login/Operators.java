package io.pushplanet.dashboard.login;

import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import io.pushplanet.dashboard.page.Slice;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.security.crypto.password.PasswordEncoder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// Changes operators. Every method returns the fault, or nothing when the change is made.
@Service
class Operators {
  private static final int PAGE = 200;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{1,99}");

  private final OperatorMapper rows;
  private final PasswordEncoder passwords;
  private final AuditLog audit;
  private final Clock clock;

  Operators(OperatorMapper rows, PasswordEncoder passwords, AuditLog audit, Clock clock) {
    this.rows = rows;
    this.passwords = passwords;
    this.audit = audit;
    this.clock = clock;
  }

  /// In the order of their names.
  ///
  /// @param after a name, or empty to begin with the first operator
  Slice<Operator> page(String after) {
    return Slice.of(rows.after(after, PAGE + 1), PAGE, Operator::name);
  }

  @Transactional
  Optional<String> create(String by, String name, String password, Role role) {
    if (!NAME.matcher(name).matches()) {
      return Optional.of(
          "A name has 2 to 100 letters, digits and . _ @ - and starts with a letter or digit.");
    }
    Optional<String> objection = Passwords.objectionTo(password, name);
    if (objection.isPresent()) {
      return objection;
    }
    Optional<String> taken = rows.nameLike(name);
    if (taken.isPresent()) {
      return taken.map(Operators::exists);
    }
    try {
      rows.insert(name, encode(password), role, clock.instant());
    } catch (DuplicateKeyException e) {
      return Optional.of(exists(name));
    }
    audit.record(by, AuditAction.OPERATOR_CREATED, name, "role " + role.word());
    return Optional.empty();
  }

  @Transactional
  Optional<String> setRole(String by, String name, Role role) {
    if (role != Role.ADMIN && isLastAdmin(name)) {
      return Optional.of("This is the last admin. Make another operator admin first.");
    }
    if (rows.setRole(name, role) == 0) {
      return gone(name);
    }
    audit.record(by, AuditAction.OPERATOR_CHANGED, name, "role " + role.word());
    return Optional.empty();
  }

  @Transactional
  Optional<String> setPassword(String by, String name, String password) {
    Optional<String> objection = Passwords.objectionTo(password, name);
    if (objection.isPresent()) {
      return objection;
    }
    if (rows.setPassword(name, encode(password)) == 0) {
      return gone(name);
    }
    rows.unlock(name);
    audit.record(by, AuditAction.PASSWORD_CHANGED, name, "set by an admin");
    return Optional.empty();
  }

  /// @param wanted the new password; the caller has checked the present one
  @Transactional
  Optional<String> changeOwnPassword(String name, String wanted) {
    Optional<String> objection = Passwords.objectionTo(wanted, name);
    if (objection.isPresent()) {
      return objection;
    }
    if (rows.setPassword(name, encode(wanted)) == 0) {
      return gone(name);
    }
    audit.record(name, AuditAction.PASSWORD_CHANGED, name, "changed by themselves");
    return Optional.empty();
  }

  @Transactional
  Optional<String> unlock(String by, String name) {
    if (rows.unlock(name) == 0) {
      return gone(name);
    }
    audit.record(by, AuditAction.OPERATOR_UNLOCKED, name, "");
    return Optional.empty();
  }

  @Transactional
  Optional<String> delete(String by, String name) {
    if (isLastAdmin(name)) {
      return Optional.of("This is the last admin. Make another operator admin first.");
    }
    if (rows.delete(name) == 0) {
      return gone(name);
    }
    audit.record(by, AuditAction.OPERATOR_DELETED, name, "");
    return Optional.empty();
  }

  /// MySQL treats `admin ` like `admin`, so the names are compared as they are stored.
  private boolean isLastAdmin(String name) {
    List<String> admins = rows.adminsForUpdate();
    return rows.find(name).map(Operator::name).map(List::of).filter(admins::equals).isPresent();
  }

  private String encode(String password) {
    return String.valueOf(passwords.encode(password));
  }

  private static String exists(String name) {
    return "There is an operator named " + name + " already.";
  }

  private static Optional<String> gone(String name) {
    return Optional.of("There is no operator named " + name + ".");
  }
}
