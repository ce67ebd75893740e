package io.pushplanet.load.bench;

import io.pushplanet.common.wire.WireForm;
import io.pushplanet.load.Benchmark;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/// A bench as short as possible. Its figures say nothing about speed.
///
/// @param succeeded the bench's own verdict
/// @param said its output
/// @param figures by metric, as in its file
public record ShortRun(boolean succeeded, String said, Map<String, Double> figures) {
  /// @param name of the bench
  public static ShortRun of(String name, Path directory, Map<String, String> options)
      throws IOException {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Run run =
        new Run(
            directory.resolve("quickstart.json"),
            directory.resolve("bench"),
            Path.of("").toAbsolutePath().getParent().getParent(),
            "bit",
            Duration.ofSeconds(1),
            options,
            Clock.systemUTC(),
            new PrintStream(said, true, StandardCharsets.UTF_8));
    boolean succeeded = Benchmark.named(name).orElseThrow().run(run);
    Map<String, Double> figures = new TreeMap<>();
    WireForm.mapper()
        .readTree(Files.readAllBytes(directory.resolve("bench/" + name + ".json")))
        .path("rows")
        .forEach(row -> figures.put(row.path("metric").asString(), row.path("value").asDouble()));
    return new ShortRun(succeeded, said.toString(StandardCharsets.UTF_8), figures);
  }
}
