package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import io.pushplanet.quickstart.process.ProcessFailed;
import io.pushplanet.quickstart.services.DirectoryTree;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/// The programs as the build left them. A Boot jar is unpacked, because the jar itself starts 2 s
/// slower and may hang for ever ({@code io.pushplanet.common.settings.BootJar}). An unpacked
/// program gets a cache of loaded and linked classes (JEP 514, https://openjdk.org/jeps/514), which
/// saves more than half of its start-up time. A cache serves one build on one version of the JDK; a
/// program starts without a cache that does not fit.
public final class BuiltPrograms {
  private static final Duration TRAINING_DEADLINE = Duration.ofMinutes(10);
  private static final Path NICE = Path.of("/usr/bin/nice");
  private static final Duration EXTRACTION_DEADLINE = Duration.ofSeconds(60);
  private static final String BOOT_JAR = "-boot.jar";
  private static final String LAYOUT = "layout-";
  private static final String LAYOUT_DRAFT = LAYOUT + "draft-";
  private static final String CACHE = "classes-";
  private static final List<String> FLAGS =
      List.of(
          "-XX:+UseCompactObjectHeaders",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Dfile.encoding=UTF-8",
          "-Duser.timezone=UTC");

  private final Path root;

  public BuiltPrograms(Path root) {
    this.root = root;
  }

  /// The launcher of the JDK that this program runs on.
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /// The command that runs a program, without its settings.
  List<String> commandOf(Program program) {
    return program == Program.SIMULATORS ? simulators() : bootProgram(program);
  }

  private List<String> simulators() {
    Path target = targetOf(Program.SIMULATORS);
    return List.of(
        java(),
        "-Xmx512m",
        "-XX:+UseCompactObjectHeaders",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "-cp",
        target.resolve("classes") + ":" + target.resolve("lib") + "/*",
        "io.pushplanet.simulators.Simulators");
  }

  private List<String> bootProgram(Program program) {
    Path runnable = runnable(program);
    var command = new ArrayList<String>();
    command.add(java());
    command.addAll(FLAGS);
    command.addAll(collectorOf(program));
    command.add("-Xmx" + System.getenv().getOrDefault("PUSHPLANET_HEAP", mostHeap(program)));
    Path cache = cacheOf(runnable);
    if (Files.exists(cache)) {
      command.add("-XX:AOTCache=" + cache);
    }
    command.add("-jar");
    command.add(runnable.toString());
    return command;
  }

  /// The collector that the images have, too. A node keeps what its sessions are, so that its
  /// collector must not stop it to walk through all of them. Under load nearly all objects of the
  /// other programs are new, so new objects get half of their heap.
  private static List<String> collectorOf(Program program) {
    return program == Program.CONNECTION_MANAGER
        ? List.of("-XX:+UseG1GC")
        : List.of("-XX:+UseParallelGC", "-XX:NewRatio=1");
  }

  /// A busy worker has thousands of messages in memory, which a small heap would copy over and
  /// over. An idle worker does not use the larger heap.
  private static String mostHeap(Program program) {
    return program == Program.WORKER ? "2g" : "768m";
  }

  boolean isTrained(Program program) {
    return program == Program.SIMULATORS || Files.exists(cacheOf(runnable(program)));
  }

  /// Makes the class cache by one start of the program, which ends when its context is up, before
  /// the program begins to work. It takes some 30 s of CPU time, at the lowest priority where the
  /// system has `nice(1)`.
  void train(Program program, Map<String, String> settings, Path logs) {
    Path runnable = runnable(program);
    Path cache = cacheOf(runnable);
    Path draft = cache.resolveSibling("draft-" + UUID.randomUUID() + ".aot");
    var command = new ArrayList<String>();
    if (Files.isExecutable(NICE)) {
      command.addAll(List.of(NICE.toString(), "-n", "19"));
    }
    command.add(java());
    command.addAll(FLAGS);
    command.addAll(collectorOf(program));
    command.addAll(
        List.of(
            "-XX:AOTCacheOutput=" + draft,
            "-Dspring.context.exit=onRefresh",
            "-jar",
            runnable.toString()));
    try {
      run("training of " + program.text(), command, settings, logs, TRAINING_DEADLINE);
      Files.move(draft, cache, StandardCopyOption.ATOMIC_MOVE);
      deleteOtherCaches(cache);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the training of " + program.text() + " left no class cache", e);
    } finally {
      deleteDrafts(draft);
    }
  }

  /// Those of other versions of the JDK. Each takes some 100 MB. A program that runs with a deleted
  /// cache keeps its mapped pages.
  private static void deleteOtherCaches(Path cache) throws IOException {
    try (Stream<Path> files = Files.list(cache.getParent())) {
      for (Path file :
          files.filter(file -> file.getFileName().toString().startsWith(CACHE)).toList()) {
        if (!file.equals(cache)) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /// The files of a cancelled training: the cache itself and the files that the JVM writes beside
  /// it.
  private static void deleteDrafts(Path draft) {
    String name = draft.getFileName().toString();
    try (Stream<Path> files = Files.list(draft.getParent())) {
      for (Path file :
          files.filter(file -> file.getFileName().toString().startsWith(name)).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + draft, e);
    }
  }

  /// The jar to run of the unpacked program, with its libraries in `lib` beside it; unpacked again
  /// when the Boot jar has changed.
  ///
  /// @throws ProcessFailed when the program is not built
  public Path runnable(Program program) {
    Path target = targetOf(program);
    try {
      Path bootJar = bootJar(program, target);
      Path layout = target.resolve(LAYOUT + checksum(bootJar));
      Path runnable = layout.resolve(bootJar.getFileName());
      if (Files.exists(runnable)) {
        return runnable;
      }
      layOut(program, bootJar, target, layout);
      return runnable;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot lay out " + program.text() + " in " + target, e);
    }
  }

  /// Other processes may do the same at the same time: each unpacks into a folder of its own, and
  /// the first complete folder gets the name.
  private static void layOut(Program program, Path bootJar, Path target, Path layout)
      throws IOException {
    Path draft = draft(target);
    try {
      run(
          "extraction of " + program.text(),
          List.of(
              java(),
              "-XX:TieredStopAtLevel=1",
              "-Djarmode=tools",
              "-jar",
              bootJar.toString(),
              "extract",
              "--destination",
              draft.toString()),
          Map.of(),
          target,
          EXTRACTION_DEADLINE);
      Files.move(draft, layout, StandardCopyOption.ATOMIC_MOVE);
      deleteOtherLayouts(target, layout);
    } catch (FileSystemException e) {
      if (Files.notExists(layout)) {
        throw e;
      }
    } finally {
      DirectoryTree.delete(draft);
    }
  }

  private static Path draft(Path target) {
    return target.resolve(LAYOUT_DRAFT + UUID.randomUUID());
  }

  /// With their class caches. A running program has opened all its jars. A layout loses its name
  /// first, so that what is left of it after a kill is not taken for a program.
  private static void deleteOtherLayouts(Path target, Path layout) throws IOException {
    for (Path other : otherLayouts(target, layout)) {
      Path draft = draft(target);
      Files.move(other, draft, StandardCopyOption.ATOMIC_MOVE);
      DirectoryTree.delete(draft);
    }
  }

  private static List<Path> otherLayouts(Path target, Path layout) throws IOException {
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(LAYOUT))
          .filter(file -> !file.getFileName().toString().startsWith(LAYOUT_DRAFT))
          .filter(file -> !file.equals(layout))
          .toList();
    }
  }

  /// The build sets one fixed time on all jars, so only the content tells whether one has changed.
  private static String checksum(Path jar) throws IOException {
    var checksum = new CRC32C();
    byte[] buffer = new byte[1 << 16];
    try (InputStream content = Files.newInputStream(jar)) {
      for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
        checksum.update(buffer, 0, read);
      }
    }
    return Long.toHexString(checksum.getValue());
  }

  private Path targetOf(Program program) {
    return root.resolve(program.module()).resolve("target");
  }

  private static Path cacheOf(Path runnable) {
    return runnable.resolveSibling(CACHE + Runtime.version() + ".aot");
  }

  private static void run(
      String name,
      List<String> arguments,
      Map<String, String> environment,
      Path logs,
      Duration atMost) {
    ChildProcess child =
        ChildProcess.start(
            new Command(
                name.replace(' ', '-'),
                arguments,
                environment,
                logs,
                logs.resolve(name.replace(' ', '-') + ".log")));
    if (!child.waitFor(atMost)) {
      child.kill9();
      throw new ProcessFailed(name + " did not end within " + atMost.toSeconds() + " s");
    }
    child.stop(Duration.ZERO);
    if (child.exitCode() != 0) {
      throw new ProcessFailed(name + " failed:\n" + child.lastLogLines(20));
    }
  }

  private static Path bootJar(Program program, Path target) throws IOException {
    List<Path> jars = Files.isDirectory(target) ? bootJars(program, target) : List.of();
    if (jars.size() != 1) {
      throw new ProcessFailed(
          "%s has %d %s-*%s, and must have one. Build first: ./mvnw -Pfast -DskipTests package"
              .formatted(target, jars.size(), program.text(), BOOT_JAR));
    }
    return jars.getFirst();
  }

  private static List<Path> bootJars(Program program, Path target) throws IOException {
    try (Stream<Path> files = Files.list(target)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(program.text() + "-"))
          .filter(file -> file.getFileName().toString().endsWith(BOOT_JAR))
          .toList();
    }
  }
}
