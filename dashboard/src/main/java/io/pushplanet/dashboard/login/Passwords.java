package io.pushplanet.dashboard.login;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/// What we ask of a password.
final class Passwords {
  private static final int SHORTEST = 12;

  /// BCrypt looks at no more than 72 bytes (https://www.usenix.org/legacy/events/usenix99/provos/provos_html/node4.html).
  private static final int LONGEST_BYTES = 72;

  private Passwords() {}

  static boolean fits(String password) {
    return password.getBytes(StandardCharsets.UTF_8).length <= LONGEST_BYTES;
  }

  /// What is wrong with a new password, for people.
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
