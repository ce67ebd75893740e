package io.pushplanet.quickstart.platform;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// `./pushplanet bench NAME`: hands over to the load module's main program in a JVM of its own, with our terminal.
final class Bench {
  /// They start what they measure and need no platform.
  private static final Set<String> ON_THEIR_OWN =
      Set.of(
          "apns",
          "broadcast",
          "connections",
          "faults",
          "fcm",
          "gateway",
          "hostile",
          "quota",
          "storm",
          "takeover");

  private Bench() {}

  static ExitCode run(Path root, List<String> arguments) {
    if (arguments.isEmpty() || arguments.getFirst().startsWith("--")) {
      throw Options.usage("bench needs a name, such as accept or end-to-end");
    }
    Path state = state(root, arguments);
    Path addresses = state.resolve(AddressFile.NAME);
    if (!ON_THEIR_OWN.contains(arguments.getFirst())) {
      PushPlanet.addresses(state);
    }
    Path target = root.resolve("perf-tests/load/target");
    var command =
        new ArrayList<>(
            List.of(
                BuiltPrograms.java(),
                "-XX:+UseCompactObjectHeaders",
                "-Xmx1g",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dpushplanet.root=" + root,
                "-cp",
                target.resolve("classes") + ":" + target.resolve("lib") + "/*",
                "io.pushplanet.load.Bench",
                arguments.getFirst(),
                "--addresses=" + addresses));
    arguments.stream()
        .skip(1)
        .filter(argument -> !argument.startsWith("--state"))
        .forEach(command::add);
    if (!Files.isDirectory(target.resolve("lib"))) {
      throw new Refusal(
          ExitCode.FAILED, "the benchmarks are not built: ./mvnw -Pfast -DskipTests package");
    }
    try {
      int code = new ProcessBuilder(command).directory(root.toFile()).inheritIO().start().waitFor();
      return switch (code) {
        case 0 -> ExitCode.OK;
        case 2 -> ExitCode.USAGE;
        default -> ExitCode.FAILED;
      };
    } catch (IOException e) {
      throw new UncheckedIOException("the benchmark cannot be started", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ExitCode.FAILED;
    }
  }

  private static Path state(Path root, List<String> arguments) {
    return arguments.stream()
        .filter(argument -> argument.startsWith("--state="))
        .map(argument -> Path.of(argument.substring("--state=".length())).toAbsolutePath())
        .findFirst()
        .orElseGet(() -> root.resolve(".pushplanet"));
  }
}
