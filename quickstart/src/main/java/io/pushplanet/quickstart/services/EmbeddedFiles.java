package io.pushplanet.quickstart.services;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.Predicate;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/// The embedded servers as the build left them in `quickstart/target/embedded`: `lib` is the class
/// path of Qpid, `native` has the jars with MariaDB's and Redis's programs. Programs are unpacked
/// beside them at first use.
final class EmbeddedFiles {
  private final Path home;

  private EmbeddedFiles(Path home) {
    this.home = home;
  }

  static EmbeddedFiles ofThisBuild() {
    // target/classes or target/quickstart-….jar: both stand in the module's target folder.
    return new EmbeddedFiles(code().toAbsolutePath().resolveSibling("embedded"));
  }

  String qpidClassPath() {
    return code() + File.pathSeparator + existing(home.resolve("lib")) + "/*";
  }

  /// Unpacks the entries below `prefix` of the jar whose name starts with `jarName`, once, and
  /// makes programs executable.
  Path unpack(String jarName, String prefix, Predicate<String> isProgram) {
    Path jar = jar(jarName);
    Path target =
        home.resolve("unpacked").resolve(jar.getFileName().toString().replace(".jar", ""));
    Path done = target.resolve(".complete");
    if (Files.exists(done)) {
      return target;
    }
    try {
      Files.createDirectories(target);
      // Another JVM may be unpacking the same jar.
      try (var lockFile =
              FileChannel.open(
                  home.resolve("unpacked").resolve("lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          var lock = lockFile.lock();
          var archive = new JarFile(jar.toFile())) {
        if (lock.isValid() && Files.notExists(done)) {
          for (JarEntry entry :
              archive.stream()
                  .filter(e -> !e.isDirectory() && e.getName().startsWith(prefix))
                  .toList()) {
            unpack(
                archive,
                entry,
                target.resolve(entry.getName().substring(prefix.length())).normalize(),
                target,
                isProgram);
          }
          Files.createFile(done);
        }
      }
      return target;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot unpack " + jar + " to " + target, e);
    }
  }

  private static void unpack(
      JarFile archive, JarEntry entry, Path file, Path target, Predicate<String> isProgram)
      throws IOException {
    if (!file.startsWith(target)) {
      throw new IOException(entry.getName() + " leads out of the jar's folder");
    }
    Files.createDirectories(file.getParent());
    try (InputStream content = archive.getInputStream(entry)) {
      Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
    }
    if (isProgram.test(entry.getName()) && !file.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + file + " executable");
    }
  }

  private Path jar(String start) {
    Path folder = existing(home.resolve("native"));
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> jars =
          files
              .filter(file ->
                  file.getFileName().toString().startsWith(start)
                      && file.toString().endsWith(".jar"))
              .toList();
      if (jars.size() != 1) {
        throw new ProcessFailed(
            "the embedded servers need one "
                + start
                + "*.jar in "
                + folder
                + ", but there are "
                + jars.size()
                + ". Build the module quickstart again: ./mvnw -pl quickstart -am package");
      }
      return jars.getFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path existing(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new ProcessFailed(
          "the embedded servers are missing in "
              + folder
              + ". Build the module quickstart: ./mvnw -pl quickstart -am package");
    }
    return folder;
  }

  private static Path code() {
    try {
      return Path.of(
          EmbeddedFiles.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException("our own class path is not a folder of files", e);
    }
  }
}
