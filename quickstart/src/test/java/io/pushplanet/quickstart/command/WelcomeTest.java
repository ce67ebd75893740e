package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.platform.Addresses;
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

  @Test
  void it_says_who_reaches_the_platform_and_how_to_let_others_in() {
    assertThat(text(ROOT.resolve(".pushplanet")))
        .contains("127.0.0.1, for this machine alone")
        .contains("./pushplanet up --bind=0.0.0.0 also lets in others");
    assertThat(text(PretendedPlatform.addresses("198.51.100.7")))
        .contains("0.0.0.0: others reach API, dashboard and MQTT at 198.51.100.7")
        .doesNotContain("--bind");
  }

  @Test
  void it_gives_no_password_to_operators_that_were_there_before() {
    assertThat(text(PretendedPlatform.addresses())).contains("(operator admin, password secret)");
    assertThat(text(PretendedPlatform.withOlderOperators()))
        .contains("older than /repository/.pushplanet/secrets.json", "dashboard/README.md")
        .doesNotContain("operator admin");
  }

  @Test
  void a_dashboard_that_was_not_started_has_no_address() {
    assertThat(text(PretendedPlatform.addresses()))
        .contains("\n  Dashboard    http://127.0.0.1:8081");
    assertThat(text(PretendedPlatform.withoutDashboard()))
        .doesNotContain("Dashboard ")
        .contains("\n  MQTT ");
  }

  private static String text(Addresses addresses) {
    return Welcome.text(addresses, ROOT, ROOT.resolve(".pushplanet"));
  }

  private static String text(Path state) {
    return Welcome.text(PretendedPlatform.addresses(), ROOT, state);
  }
}
