package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class WelcomeTest {
  private static final Path ROOT = Path.of("/repository");

  @Test
  void the_commands_it_names_find_the_state_that_it_is_about() {
    assertThat(text(ROOT.resolve(".pushplanet")))
        .contains("./pushplanet demo shows", "./pushplanet down stops everything");
    assertThat(text(Path.of("/a b")))
        .contains(
            "./pushplanet demo '--state=/a b' shows",
            "./pushplanet down '--state=/a b' stops everything");
  }

  private static String text(Path state) {
    return Welcome.text(AddressFileTest.addresses(), ROOT, state);
  }
}
