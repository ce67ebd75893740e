package io.pushplanet.quickstart.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.platform.PretendedPlatform;
import io.pushplanet.quickstart.platform.StartRefused;
import io.pushplanet.quickstart.platform.StateLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpTest {
  @TempDir private Path folder;
  private Path state;
  private Path log;

  @BeforeEach
  void aSupervisorHasWrittenItsLog() throws IOException {
    state = Files.createDirectory(folder.resolve("state"));
    log = Files.writeString(state.resolve("supervisor.log"), "Push Planet is up.\n");
  }

  @Test
  void a_second_start_is_refused_and_leaves_the_first_ones_log_alone() throws IOException {
    try (var _ = PretendedPlatform.up(state)) {
      assertThatExceptionOfType(StartRefused.class)
          .isThrownBy(() -> up("--detach"))
          .withMessageContaining("process " + ProcessHandle.current().pid())
          .withMessageContaining(state.toString())
          .withMessageContaining("./pushplanet down '--state=" + state + "'")
          .satisfies(refused ->
              assertThat(ExitCode.of(refused.reason())).isEqualTo(ExitCode.ALREADY_RUNNING));
    }
    assertThat(log).hasContent("Push Planet is up.");
  }

  @Test
  void a_second_start_leaves_the_log_of_a_starting_platform_alone() throws IOException {
    try (var _ = StateLock.takeToStart(state)) {
      assertThatExceptionOfType(StartRefused.class)
          .isThrownBy(() -> up("--detach"))
          .withMessageContaining("starting");
    }
    assertThat(log).hasContent("Push Planet is up.");
  }

  @Test
  void a_state_directory_that_cannot_be_used_is_named_in_one_line() throws IOException {
    Path file = Files.createFile(folder.resolve("file"));

    assertThatExceptionOfType(StartRefused.class)
        .isThrownBy(() -> Up.run(folder, List.of("--state=" + file.resolve("below"))))
        .withMessageContaining("cannot use the state directory " + file)
        .satisfies(refused -> assertThat(ExitCode.of(refused.reason())).isEqualTo(ExitCode.FAILED));
  }

  private void up(String option) {
    Up.run(folder, List.of(option, "--ports=free", "--state=" + state));
  }
}
