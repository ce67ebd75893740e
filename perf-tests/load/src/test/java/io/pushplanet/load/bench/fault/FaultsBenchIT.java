package io.pushplanet.load.bench.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.load.bench.ShortRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// `./pushplanet bench faults`, as short as possible: one misbehaviour and one kill.
@Execution(ExecutionMode.CONCURRENT)
class FaultsBenchIT {
  @TempDir private Path directory;

  @Test
  void the_bench_ends_loses_nothing_and_reports_repeats() throws IOException {
    ShortRun run =
        ShortRun.of(
            "faults",
            directory,
            Map.of(
                "warm-up", "0",
                "workers", "1",
                "kinds", "taken-then-reset",
                "each", "2",
                "kills", "1",
                "devices", "20",
                "rate", "50"));

    // The number of duplicates also depends on the machine: one that stands still for seconds looks
    // silent, and the messages in flight are sent again. None may be lost, fail, or be shown twice.
    assertThat(run.figures())
        .as(run.said())
        .containsEntry("happened: taken-then-reset, 2 times at each provider", 8.0)
        .containsEntry("workers killed (kill -9)", 1.0)
        .containsEntry("lost", 0.0)
        .containsEntry("failed", 0.0)
        .containsEntry("taken twice without the same collapse id", 0.0)
        .containsKeys(
            "taken twice: taken-then-reset, 2 times at each provider",
            "unanswered at the kills",
            "killed to ready p50");
    assertThat(run.figures().get("messages accepted")).isPositive();
  }
}
