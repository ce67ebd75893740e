package io.pushplanet.load;

import io.pushplanet.load.bench.Run;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// `./pushplanet bench NAME`: measures a running platform, or the processes that the benchmark
/// starts itself.
///
/// The exit code is 0 when the run was measured and its account balanced, 1 when not, 2 for a wrong
/// call.
public final class Bench {
  private static final String USAGE =
      "usage: ./pushplanet bench NAME [--seconds=20] [its options]. Names:\n";
  private static final int DEFAULT_SECONDS = 20;
  private static final Pattern OPTION = Pattern.compile("--([a-z][a-z-]*)=(.+)");

  private Bench() {}

  public static void main(String[] arguments) {
    System.exit(run(arguments, System.err));
  }

  static int run(String[] arguments, PrintStream complaints) {
    String name = "";
    Path addresses = Path.of(".pushplanet", "quickstart.json");
    int seconds = DEFAULT_SECONDS;
    Map<String, String> options = new HashMap<>();
    for (String argument : arguments) {
      Matcher option = OPTION.matcher(argument);
      if (argument.startsWith("--addresses=")) {
        addresses = Path.of(argument.substring("--addresses=".length()));
      } else if (argument.startsWith("--seconds=")) {
        String given = argument.substring("--seconds=".length());
        if (!given.matches("[1-9][0-9]{0,3}")) {
          complaints.println("--seconds is a whole number from 1 to 9999, not " + given);
          return 2;
        }
        seconds = Integer.parseInt(given);
      } else if (option.matches()) {
        options.put(option.group(1), option.group(2));
      } else if (!argument.startsWith("-") && name.isEmpty()) {
        name = argument;
      } else {
        complaints.print("there is no option " + argument + "\n" + USAGE + Benchmark.list());
        return 2;
      }
    }
    Optional<Benchmark> benchmark = Benchmark.named(name);
    if (benchmark.isEmpty()) {
      complaints.print("there is no benchmark '" + name + "'\n" + USAGE + Benchmark.list());
      return 2;
    }
    for (String option : options.keySet()) {
      if (!benchmark.get().options().contains(option)) {
        complaints.print(name + " has no option --" + option + "\n" + USAGE + Benchmark.list());
        return 2;
      }
    }
    try {
      Clock clock = Clock.systemUTC();
      boolean succeeded =
          benchmark
              .get()
              .run(
                  new Run(
                      addresses,
                      addresses.toAbsolutePath().resolveSibling("bench"),
                      Path.of(System.getProperty("pushplanet.root", ".")),
                      "b" + Long.toString(clock.millis(), Character.MAX_RADIX),
                      Duration.ofSeconds(seconds),
                      options,
                      clock,
                      System.out));
      return succeeded ? 0 : 1;
    } catch (IllegalArgumentException e) {
      complaints.println(e.getMessage());
      return 2;
    } catch (IllegalStateException | UncheckedIOException | ProcessFailed e) {
      complaints.println("the benchmark ended early: " + e.getMessage());
      return 1;
    }
  }
}
