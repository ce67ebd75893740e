package io.pushplanet.dashboard.login;

import java.io.Serial;
import org.springframework.security.authentication.LockedException;

/// Not the name is locked but the address from which it was tried.
final class AddressLockedException extends LockedException {
  @Serial private static final long serialVersionUID = 1;

  AddressLockedException() {
    super("too many wrong logins from this address");
  }
}
