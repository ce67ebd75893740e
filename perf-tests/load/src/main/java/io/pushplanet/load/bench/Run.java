package io.pushplanet.load.bench;

import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.services.DirectoryTree;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// The input of a benchmark.
///
/// @param addresses `quickstart.json` of a running platform; need not exist for a benchmark that
///     starts its own processes
/// @param directory for journals, logs and results
/// @param root the repository, as the build left it
/// @param name of this run, unique
/// @param measured how long each part is measured
/// @param options of this benchmark alone, without the dashes
public record Run(
    Path addresses,
    Path directory,
    Path root,
    String name,
    Duration measured,
    Map<String, String> options,
    Clock clock,
    PrintStream out) {
  public Run {
    options = Map.copyOf(options);
  }

  /// The running platform.
  public Target target() {
    return Target.of(addresses);
  }

  /// The folder of this run alone; created if missing.
  public Path ownDirectory() {
    Path own = directory.resolve(name).toAbsolutePath();
    try {
      return Files.createDirectories(own);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to " + own, e);
    }
  }

  /// The state of the MySQL, Redis and AMQP servers that this run starts, where
  /// [io.pushplanet.quickstart.platform.Platform] has it as well.
  public Path servers() {
    return ownDirectory().resolve("services");
  }

  /// Deletes the servers' data, which is up to gigabytes a run, and keeps their logs.
  public void deleteServerData() {
    try {
      DirectoryTree.deleteAllButLogs(servers());
    } catch (IOException e) {
      say("cannot delete the servers' data in %s: %s", servers(), e);
    }
  }

  public Optional<String> option(String option) {
    return Optional.ofNullable(options.get(option));
  }

  /// The whole number of an option, or its default.
  public int number(String option, int otherwise) {
    return read(option, "a whole number", Integer::parseInt).orElse(otherwise);
  }

  /// The same, where an `int` may be too small.
  public long longNumber(String option, long otherwise) {
    return read(option, "a whole number", Long::parseLong).orElse(otherwise);
  }

  /// The number of an option, or its default.
  public double decimal(String option, double otherwise) {
    return read(option, "a number", Double::parseDouble).orElse(otherwise);
  }

  /// The whole numbers of an option, separated by commas, or its default; none is below zero.
  public List<Integer> numbers(String option, List<Integer> otherwise) {
    return read(option, "a list of whole numbers from 0 on", Run::fromZeroOn).orElse(otherwise);
  }

  private static List<Integer> fromZeroOn(String list) {
    List<Integer> numbers = Arrays.stream(list.split(",", -1)).map(Integer::valueOf).toList();
    if (numbers.stream().anyMatch(number -> number < 0)) {
      throw new NumberFormatException("below zero");
    }
    return numbers;
  }

  /// @param what the value must be, for the message when it is not
  private <T> Optional<T> read(String option, String what, Function<String, T> reader) {
    return option(option)
        .map(given -> {
          try {
            return reader.apply(given);
          } catch (NumberFormatException e) {
            throw new IllegalArgumentException("--" + option + " is " + what + ", not " + given, e);
          }
        });
  }

  /// Whether the processes that an option names get only the processor time that others leave,
  /// which is the default.
  public boolean isSpare(String option) {
    return switch (option(option).orElse("spare")) {
      case "spare" -> true;
      case "equal" -> false;
      default -> throw new IllegalArgumentException("--" + option + " is spare or equal");
    };
  }

  /// Those of these that an option names, separated by commas.
  ///
  /// @param otherwise without the option
  public List<String> some(String option, String otherwise, List<String> known) {
    List<String> given = List.of(option(option).orElse(otherwise).split(","));
    for (String one : given) {
      if (!known.contains(one)) {
        throw new IllegalArgumentException(
            "--" + option + " are of " + String.join(",", known) + ", not " + one);
      }
    }
    return given;
  }

  /// Prints the progress, line by line.
  public void say(String form, Object... values) {
    out.printf(Locale.ROOT, form + "%n", values).flush();
  }
}
