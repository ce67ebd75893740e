package io.pushplanet.dashboard.login;

import java.io.Serial;
import java.io.Serializable;
import java.security.Principal;

/// The operator who is logged in, as the session keeps them.
///
/// @param passwordMark changes with the password. A session with another mark, or another role than
///     the operator has, is ended.
record SignedIn(String name, Role role, int passwordMark) implements Principal, Serializable {
  @Serial private static final long serialVersionUID = 1;

  static SignedIn of(Operator operator) {
    return new SignedIn(operator.name(), operator.role(), operator.password().hashCode());
  }

  @Override
  public String getName() {
    return name;
  }
}
