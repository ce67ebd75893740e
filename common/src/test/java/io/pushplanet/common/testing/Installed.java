package io.pushplanet.common.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/// Programs besides the JDK that a few tests drive: a browser, Mosquitto's clients. Where one is
/// missing, a test that needs it is skipped and says so; with `PUSHPLANET_TESTS=all`, as in CI, it
/// fails instead. Tests never skip for lack of a server: each server has an embedded stand-in.
public final class Installed {
  private Installed() {}

  /// @param program its name on the PATH, such as `mosquitto_sub`
  /// @param variable names the program's path where it is elsewhere
  /// @param debianPackage contains it
  public static Path program(String program, String variable, String debianPackage) {
    var given = Optional.ofNullable(System.getenv(variable)).map(Path::of);
    var found = given.or(() -> onPath(program)).filter(Files::isExecutable);
    if (found.isPresent()) {
      return found.get();
    }
    String missing =
        "This test needs "
            + given.map(Path::toString).orElse(program)
            + ", which is missing. Install it (Debian: apt-get install "
            + debianPackage
            + "), or say where it is: "
            + variable
            + "=/path";
    if ("all".equals(System.getenv("PUSHPLANET_TESTS"))) {
      throw new AssertionError(missing);
    }
    System.err.println("SKIPPED: " + missing);
    return Assumptions.abort(missing);
  }

  private static Optional<Path> onPath(String program) {
    return Arrays.stream(System.getenv("PATH").split(java.io.File.pathSeparator))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
