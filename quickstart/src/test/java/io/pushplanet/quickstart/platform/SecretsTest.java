package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
  private final SecureRandom random = new SecureRandom();

  @TempDir private Path state;

  @Test
  void they_are_made_once() {
    assertThat(Secrets.kept(state)).isEmpty();

    Secrets made = Secrets.make(state, random, false);

    assertThat(made.operatorPassword()).isNotEmpty();
    assertThat(Secrets.kept(state)).contains(made);
  }

  @Test
  void where_the_dashboard_has_operators_none_gets_a_password() {
    Secrets.make(state, random, true);

    assertThat(Secrets.kept(state).orElseThrow().operatorPassword()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{\"master_key\":", "{}", "{\"master_key\":\"k\"}"})
  void a_damaged_file_is_named_and_what_to_do(String content) throws IOException {
    Path file = Files.writeString(state.resolve("secrets.json"), content);

    assertThatExceptionOfType(StartRefused.class)
        .isThrownBy(() -> Secrets.kept(state))
        .withMessage(file + " cannot be read: restore it, or start with a new --state");
  }
}
