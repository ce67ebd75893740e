package io.pushplanet.load.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.wire.WireForm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// `./pushplanet bench gateway`, as short as it can be: whether it runs to its end, not what it measures.
class GatewayBenchIT {
  @TempDir private Path directory;

  @Test
  void the_bench_runs_to_its_end_loses_nothing_and_writes_its_figures() throws IOException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Run run =
        new Run(
            directory.resolve("quickstart.json"),
            directory.resolve("bench"),
            Path.of("").toAbsolutePath().getParent().getParent(),
            "bit",
            Duration.ofSeconds(1),
            Map.of("warm-up", "1"),
            Clock.systemUTC(),
            new PrintStream(said, true, StandardCharsets.UTF_8));

    boolean balances = Benchmark.GATEWAY.run(run);

    assertThat(balances).as(said.toString(StandardCharsets.UTF_8)).isTrue();
    JsonNode report =
        WireForm.mapper().readTree(Files.readAllBytes(directory.resolve("bench/gateway.json")));
    List<String> metrics = new ArrayList<>();
    report.path("rows").forEach(row -> metrics.add(row.path("metric").asString()));
    assertThat(metrics)
        .contains(
            "CPU per notification, dispatcher and worker (single)",
            "CPU per notification, dispatcher and worker (batches of 100 messages)",
            "accept to answer p99 (one message to 100 devices)");
    assertThat(metrics).anyMatch(metric -> metric.startsWith("queue to provider, acknowledged"));
  }
}
