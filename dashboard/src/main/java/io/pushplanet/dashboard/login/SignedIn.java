package io.pushplanet.dashboard.login;

import java.io.Serial;
import java.io.Serializable;
import java.security.Principal;

/// Who is logged in, as the session remembers it.
///
/// @param passwordMark changes with the password and the role, so that either ends the sessions begun before
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
