package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.platform.PretendedPlatform;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class WelcomeTest {
  private static final Path ROOT = Path.of("/repository");

  @Test
  void the_commands_that_it_names_find_its_state() {
    assertThat(text(ROOT.resolve(".pushplanet")))
        .contains("./pushplanet demo shows", "./pushplanet down stops everything");
    assertThat(text(Path.of("/a b")))
        .contains(
            "./pushplanet demo '--state=/a b' shows",
            "./pushplanet down '--state=/a b' stops everything");
  }

  private static String text(Path state) {
    return Welcome.text(PretendedPlatform.addresses(), ROOT, state);
  }
}
