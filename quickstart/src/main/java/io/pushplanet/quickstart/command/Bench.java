package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.BuiltPrograms;
import io.pushplanet.quickstart.process.Leash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/// `./pushplanet bench NAME`: runs the load module's main program in a JVM of its own, on this
/// terminal. It ends with this process, and so do its children.
final class Bench {
  /// They start the programs that they measure, and need no running platform.
  private static final Set<String> ON_THEIR_OWN =
      Set.of(
          "apns",
          "broadcast",
          "connections",
          "credentials",
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
    List<String> rest = arguments.subList(1, arguments.size());
    Options options = Options.parse(rest, new Options.Names(Set.of(), names(rest), Set.of()));
    Path state = PushPlanet.state(root, options);
    if (!ON_THEIR_OWN.contains(arguments.getFirst())) {
      PushPlanet.addresses(root, state);
    }
    Path target = root.resolve("perf-tests/load/target");
    var command =
        new ArrayList<>(
            List.of(
                BuiltPrograms.java(),
                "-XX:+UseCompactObjectHeaders",
                // A heap that begins small is collected beside what is measured, 5 ms each time.
                "-Xms256m",
                "-Xmx1g",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                // Benchmarks have no logger, on purpose.
                "-Dslf4j.internal.verbosity=ERROR",
                "-Dpushplanet.root=" + root,
                "-cp",
                target.resolve("classes") + ":" + target.resolve("lib") + "/*",
                "io.pushplanet.load.Bench",
                arguments.getFirst(),
                "--addresses=" + state.resolve(AddressFile.NAME)));
    options.values().entrySet().stream()
        .filter(option -> !option.getKey().equals("--state"))
        .forEach(option -> command.add(option.getKey() + "=" + option.getValue()));
    if (!Files.isDirectory(target.resolve("lib"))) {
      throw new Refusal(
          ExitCode.FAILED, "the benchmarks are not built: ./mvnw -Pfast -DskipTests package");
    }
    try {
      Leash leash = Leash.shared();
      Process bench = new ProcessBuilder(command).directory(root.toFile()).inheritIO().start();
      leash.hold(bench.pid());
      int code = bench.waitFor();
      leash.release(bench.pid());
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

  /// Each benchmark knows its own options; all of them take a value.
  private static Set<String> names(List<String> arguments) {
    return arguments.stream()
        .filter(argument -> argument.startsWith("--"))
        .map(argument -> argument.split("=", 2)[0])
        .collect(Collectors.toSet());
  }
}
