package io.pushplanet.load;

import io.pushplanet.load.bench.Benchmark;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;

/// `./pushplanet bench NAME`: measures a running platform.
///
/// Exit code 0 when it was measured and the account balanced, 1 when not, 2 when it was called wrongly.
public final class Bench {
  private static final String USAGE =
      "usage: ./pushplanet bench NAME [--seconds=20], with the platform up. Names:\n";
  private static final int DEFAULT_SECONDS = 20;

  private Bench() {}

  public static void main(String[] arguments) {
    System.exit(run(arguments));
  }

  private static int run(String[] arguments) {
    String name = "";
    Path addresses = Path.of(".pushplanet", "quickstart.json");
    int seconds = DEFAULT_SECONDS;
    for (String argument : arguments) {
      if (argument.startsWith("--addresses=")) {
        addresses = Path.of(argument.substring("--addresses=".length()));
      } else if (argument.matches("--seconds=[1-9][0-9]{0,3}")) {
        seconds = Integer.parseInt(argument.substring("--seconds=".length()));
      } else if (argument.endsWith(".json")) {
        addresses = Path.of(argument);
      } else if (!argument.startsWith("-") && name.isEmpty()) {
        name = argument;
      } else {
        System.err.print("there is no option " + argument + "\n" + USAGE + Benchmark.list());
        return 2;
      }
    }
    Optional<Benchmark> benchmark = Benchmark.named(name);
    if (benchmark.isEmpty()) {
      System.err.print("there is no benchmark '" + name + "'\n" + USAGE + Benchmark.list());
      return 2;
    }
    try {
      boolean balances =
          benchmark
              .get()
              .run(
                  addresses,
                  Duration.ofSeconds(seconds),
                  Path.of(System.getProperty("pushplanet.root", ".")),
                  Clock.systemUTC(),
                  System.out);
      return balances ? 0 : 1;
    } catch (IllegalStateException | java.io.UncheckedIOException e) {
      System.err.println("the benchmark ended early: " + e.getMessage());
      return 1;
    }
  }
}
