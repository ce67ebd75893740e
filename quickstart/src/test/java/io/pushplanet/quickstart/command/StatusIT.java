package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.platform.PretendedPlatform;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs the command as a process, on a state directory that a killed supervisor has left.
class StatusIT {
  @TempDir private Path state;

  @Test
  void processes_of_a_killed_supervisor_are_called_dead_and_not_up() throws Exception {
    PretendedPlatform.writeAddresses(state);
    Files.writeString(state.resolve("supervisor.child"), ProcessHandle.current().pid() + " 1\n");

    Outcome status = status();

    assertThat(status.code()).isEqualTo(ExitCode.SERVICE_FAILED.code());
    assertThat(status.told())
        .containsPattern("supervisor +DEAD")
        .contains("stop the rest with ./pushplanet down '--state=" + state + "'")
        .doesNotContain("Push Planet is up");
  }

  @Test
  void after_the_death_of_a_process_it_says_why_nothing_is_up() throws Exception {
    Path log =
        Files.writeString(
            state.resolve("supervisor.log"),
            """
            Push Planet is up.
            [ 61.2 s] Redis (process 7) died with exit code 137. Its last log lines, from redis.log:
            pushplanet: Redis died with exit code 137, so everything is stopped
            [ 61.3 s] stopping
            """);

    Outcome status = status();

    assertThat(status.code()).isEqualTo(ExitCode.NOT_RUNNING.code());
    assertThat(status.told())
        .contains("nothing is up")
        .contains(
            "said: Redis died with exit code 137, so everything is stopped. More is in " + log);
  }

  @Test
  void after_an_orderly_end_nothing_is_up_and_that_is_all() throws Exception {
    Files.writeString(state.resolve("supervisor.log"), "Push Planet is up.\n[ 61.3 s] stopping\n");

    assertThat(status().told()).endsWith("start it with ./pushplanet up '--state=" + state + "'\n");
  }

  private record Outcome(int code, String told) {}

  private Outcome status() throws Exception {
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
    return new Outcome(status.exitValue(), told);
  }
}
