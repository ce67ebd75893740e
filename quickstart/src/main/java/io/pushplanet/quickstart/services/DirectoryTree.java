package io.pushplanet.quickstart.services;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// A folder with everything in it.
public final class DirectoryTree {
  private DirectoryTree() {}

  /// Deletes it, if it is there.
  public static void delete(Path root) throws IOException {
    if (Files.notExists(root)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> all = Files.walk(root)) {
      deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : deepestFirst) {
      Files.deleteIfExists(path);
    }
  }
}
