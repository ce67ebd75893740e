package io.pushplanet.dashboard.login;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PasswordsTest {
  @Test
  void a_password_is_long_enough_and_not_too_easy() {
    assertThat(Passwords.objectionTo("four words in a row", "admin")).isEmpty();
    assertThat(Passwords.objectionTo("short", "admin")).isPresent();
    assertThat(Passwords.objectionTo("aaaaaaaaaaaaaa", "admin")).isPresent();
    assertThat(Passwords.objectionTo("admin@example.org", "admin@example.org")).isPresent();
  }

  @Test
  void a_password_has_at_most_the_72_bytes_that_bcrypt_uses() {
    assertThat(Passwords.objectionTo("four words ".repeat(7), "admin")).isPresent();
    assertThat(Passwords.fits("ü".repeat(37))).isFalse();
  }
}
