package io.pushplanet.quickstart.command;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// The output of the latest platform in the background: the same that `up` prints in a terminal.
final class SupervisorLog {
  private SupervisorLog() {}

  static Path in(Path state) {
    return state.resolve("supervisor.log");
  }

  /// Why it ended, unless it was told to.
  static Optional<String> complaint(Path state) {
    Path log = in(state);
    if (Files.notExists(log)) {
      return Optional.empty();
    }
    try {
      return new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(PushPlanet.COMPLAINT))
          .map(line -> line.substring(PushPlanet.COMPLAINT.length()))
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + log, e);
    }
  }
}
