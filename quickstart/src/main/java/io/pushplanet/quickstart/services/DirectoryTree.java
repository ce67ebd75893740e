package io.pushplanet.quickstart.services;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
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
    for (Path path : deepestFirst(root)) {
      Files.deleteIfExists(path);
    }
  }

  /// Deletes everything in it except `.log` files and their folders, if it is there.
  public static void deleteAllButLogs(Path root) throws IOException {
    if (Files.notExists(root)) {
      return;
    }
    for (Path path : deepestFirst(root)) {
      if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
        deleteIfEmpty(path);
      } else if (!path.toString().endsWith(".log")) {
        Files.deleteIfExists(path);
      }
    }
  }

  private static void deleteIfEmpty(Path folder) throws IOException {
    try (Stream<Path> content = Files.list(folder)) {
      if (content.findAny().isPresent()) {
        return;
      }
    }
    Files.delete(folder);
  }

  private static List<Path> deepestFirst(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.sorted(Comparator.reverseOrder()).toList();
    }
  }
}
