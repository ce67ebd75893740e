package io.pushplanet.dashboard.login;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// The rules for passwords.
final class Passwords {
  private static final int SHORTEST = 12;

  /// BCrypt uses only the first 72 bytes
  /// (https://www.usenix.org/legacy/events/usenix99/provos/provos_html/node4.html).
  private static final int LONGEST_BYTES = 72;

  private Passwords() {}

  static boolean fits(String password) {
    return password.getBytes(StandardCharsets.UTF_8).length <= LONGEST_BYTES;
  }

  /// The fault of a new password, in words for the operator.
  static Optional<String> objectionTo(String password, String name) {
    if (password.length() < SHORTEST) {
      return Optional.of("The password needs at least " + SHORTEST + " characters.");
    }
    if (!fits(password)) {
      return Optional.of("The password may have at most " + LONGEST_BYTES + " bytes.");
    }
    if (password.equalsIgnoreCase(name) || password.chars().distinct().count() < 5) {
      return Optional.of("The password is too easy to guess.");
    }
    return Optional.empty();
  }
}
