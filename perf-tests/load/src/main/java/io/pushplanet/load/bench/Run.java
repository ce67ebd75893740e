package io.pushplanet.load.bench;

import io.pushplanet.load.scenario.Target;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
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

  /// Where this run alone writes; made where it is not there.
  Path ownDirectory() {
    Path own = directory.resolve(name).toAbsolutePath();
    try {
      return Files.createDirectories(own);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write to " + own, e);
    }
  }

  Optional<String> option(String option) {
    return Optional.ofNullable(options.get(option));
  }

  /// The whole number that an option gives, or the one that stands for it.
  int number(String option, int otherwise) {
    String given = option(option).orElseGet(() -> Integer.toString(otherwise));
    try {
      return Integer.parseInt(given);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--" + option + " is a whole number, not " + given, e);
    }
  }

  /// Whether those whom an option names get only the processor time that others leave, as they do where it is not given.
  boolean isSpare(String option) {
    return switch (option(option).orElse("spare")) {
      case "spare" -> true;
      case "equal" -> false;
      default -> throw new IllegalArgumentException("--" + option + " is spare or equal");
    };
  }

  /// Some of these, as an option names them, separated by commas.
  ///
  /// @param otherwise where it is not given
  List<String> some(String option, String otherwise, List<String> known) {
    List<String> given = List.of(option(option).orElse(otherwise).split(","));
    for (String one : given) {
      if (!known.contains(one)) {
        throw new IllegalArgumentException(
            "--" + option + " are of " + String.join(",", known) + ", not " + one);
      }
    }
    return given;
  }

  /// Tells people how it goes, line by line.
  void say(String form, Object... values) {
    out.printf(Locale.ROOT, form + "%n", values).flush();
  }
}
