package io.pushplanet.quickstart.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/// The pages and sources of the repository.
final class Pages {
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private Pages() {}

  static List<Path> all() throws IOException {
    return ending(".md");
  }

  /// Relative to the root, without built and hidden folders.
  static List<Path> ending(String suffix) throws IOException {
    List<Path> found = new ArrayList<>();
    Files.walkFileTree(
        ROOT,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            String name = folder.getFileName().toString();
            boolean ours = folder.equals(ROOT) || !name.equals("target") && !name.startsWith(".");
            return ours ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(suffix)) {
              found.add(ROOT.relativize(file));
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
