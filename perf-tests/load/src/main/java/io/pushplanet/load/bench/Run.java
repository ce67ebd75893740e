package io.pushplanet.load.bench;

import io.pushplanet.load.scenario.Target;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// What a benchmark is given.
///
/// @param addresses `quickstart.json` of a running platform; need not exist for a benchmark that starts what it measures
/// @param directory for journals, logs and results
/// @param root the repository, as the build left it
/// @param name of this run, unique
/// @param each how long each part is measured
/// @param options of this benchmark alone, without the dashes
public record Run(
    Path addresses,
    Path directory,
    Path root,
    String name,
    Duration each,
    Map<String, String> options,
    Clock clock,
    PrintStream out) {
  public Run {
    options = Map.copyOf(options);
  }

  /// The running platform.
  Target target() {
    return Target.of(addresses);
  }

  Optional<String> option(String option) {
    return Optional.ofNullable(options.get(option));
  }
}
