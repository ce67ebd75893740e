package io.pushplanet.load.bench;

import io.pushplanet.load.scenario.Target;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The benchmarks by name.
public enum Benchmark {
  ACCEPT("accept", "unicast accepts per second with broker confirms, 64 and 500 clients") {
    @Override
    Result measure(Target target, Path directory, String run, Duration each, PrintStream out) {
      return AcceptBench.measure(target, directory, run, each, out);
    }
  },
  END_TO_END("end-to-end", "accepted to device PUBACK over MQTT, then the auditor") {
    @Override
    Result measure(Target target, Path directory, String run, Duration each, PrintStream out) {
      return EndToEndBench.measure(target, directory, run, each, out);
    }
  };

  private final String text;
  private final String what;

  Benchmark(String text, String what) {
    this.text = text;
    this.what = what;
  }

  /// Figures and whether the run's account balanced.
  record Result(List<Report.Row> rows, boolean balances) {
    Result {
      rows = List.copyOf(rows);
    }
  }

  abstract Result measure(
      Target target, Path directory, String run, Duration each, PrintStream out);

  public static Optional<Benchmark> named(String name) {
    return Arrays.stream(values()).filter(benchmark -> benchmark.text.equals(name)).findFirst();
  }

  /// A line for each benchmark.
  public static String list() {
    StringBuilder list = new StringBuilder();
    for (Benchmark benchmark : values()) {
      list.append(String.format("  %-12s %s%n", benchmark.text, benchmark.what));
    }
    return list.toString();
  }

  /// Runs it against the platform that `quickstart.json` names, prints a table and writes `bench/NAME.json` beside that file.
  ///
  /// @param each how long each part is measured
  /// @param root the repository, for its commit
  /// @return whether the account balanced
  public boolean run(Path quickstart, Duration each, Path root, Clock clock, PrintStream out) {
    Target target = Target.of(quickstart);
    Path directory = quickstart.toAbsolutePath().resolveSibling("bench");
    String run = "b" + Long.toString(clock.millis(), Character.MAX_RADIX);
    Result result = measure(target, directory, run, each, out);
    Report report =
        new Report(
            text,
            clock.instant(),
            Machine.commit(root),
            "./pushplanet bench " + text + " --seconds=" + each.toSeconds(),
            Machine.description(),
            result.rows());
    out.println();
    out.print(report.table());
    out.println("written to " + report.write(directory));
    return result.balances();
  }
}
