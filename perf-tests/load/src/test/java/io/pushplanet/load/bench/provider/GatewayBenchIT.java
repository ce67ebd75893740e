package io.pushplanet.load.bench.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.load.bench.ShortRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// `./pushplanet bench gateway`, as short as possible. Its figures say nothing about speed.
@Execution(ExecutionMode.CONCURRENT)
class GatewayBenchIT {
  @TempDir private Path directory;

  @Test
  void the_bench_ends_loses_nothing_and_writes_its_figures() throws IOException {
    ShortRun run =
        ShortRun.of(
            "gateway",
            directory,
            Map.of(
                "warm-up", "1", "delay", "20ms", "parts", "single,messages,devices,queue,singles"));

    assertThat(run.succeeded()).as(run.said()).isTrue();
    assertThat(run.figures())
        .containsKeys(
            "CPU per notification, dispatcher and worker (single)",
            "CPU per notification, dispatcher and worker (batches of 100 messages)",
            "accept to answer p99 (one message to 100 devices)");
    assertThat(run.figures().keySet())
        .anyMatch(metric -> metric.startsWith("queue to provider, acknowledged"))
        .anyMatch(metric ->
            metric.startsWith(
                "share of an app's places / round trip (one by one, first, 20 ms away"))
        .anyMatch(metric -> metric.startsWith("requests under way at most (one by one, second"));
    try (Stream<Path> left = Files.walk(directory.resolve("bench/bit/services"))) {
      assertThat(left.filter(Files::isRegularFile))
          .as("the servers' logs without their data")
          .isNotEmpty()
          .allMatch(file -> file.toString().endsWith(".log"));
    }
  }
}
