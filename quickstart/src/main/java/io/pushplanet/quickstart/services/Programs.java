package io.pushplanet.quickstart.services;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/// Finds installed programs on the PATH and in the folders where packages put servers outside a
/// user's PATH.
final class Programs {

  private Programs() {}

  static Optional<Path> find(String program) {
    String path = System.getenv().getOrDefault("PATH", "");
    Stream<String> onPath = Stream.of(path.split(File.pathSeparator));
    Stream<String> elsewhere =
        Stream.of(
            "/usr/sbin",
            "/usr/local/sbin",
            "/usr/local/bin",
            "/usr/libexec",
            "/opt/homebrew/bin",
            "/opt/homebrew/sbin");
    return Stream.concat(onPath, elsewhere)
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, program))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
