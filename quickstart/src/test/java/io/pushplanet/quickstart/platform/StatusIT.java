package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The command as a process, on a state directory that a killed supervisor has left.
class StatusIT {
  @TempDir private Path state;

  @Test
  void what_a_killed_supervisor_left_is_called_dead_and_not_up() throws Exception {
    AddressFile.write(state, AddressFileTest.addresses());
    Files.writeString(state.resolve("supervisor.child"), ProcessHandle.current().pid() + " 1\n");

    Process status =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                PushPlanet.class.getName(),
                "status",
                "--state=" + state)
            .redirectErrorStream(true)
            .start();
    String told = new String(status.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(status.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(status.exitValue()).isEqualTo(ExitCode.SERVICE_FAILED.code());
    assertThat(told)
        .containsPattern("supervisor +DEAD")
        .contains("stop the rest with ./pushplanet down '--state=" + state + "'")
        .doesNotContain("Push Planet is up");
  }
}
