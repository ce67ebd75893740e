package io.pushplanet.quickstart.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// A file beside a child's log with its process id and start. With it `down` finds the processes
/// that a killed supervisor left behind, and never ends another program that has got the same
/// process id since.
///
/// @param start from [ProcessStart]
public record ChildRecord(Path file, String name, long pid, String start) {
  private static final String SUFFIX = ".child";

  /// No process has this start: a child that ended before it was recorded is never found.
  private static final String ENDED = "ended";

  /// Deep enough for `services/installed-mysql/MariaDB.child`.
  private static final int DEPTH = 4;

  static ChildRecord write(Command command, Process process) throws IOException {
    Path file = command.log().resolveSibling(command.name() + SUFFIX);
    return write(file, command.name(), process.toHandle());
  }

  /// Records this JVM itself, for `down` and `status`.
  public static ChildRecord ofThisProcess(Path directory, String name) {
    try {
      Files.createDirectories(directory);
      return write(directory.resolve(name + SUFFIX), name, ProcessHandle.current());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot record this process in " + directory, e);
    }
  }

  private static ChildRecord write(Path file, String name, ProcessHandle process)
      throws IOException {
    String start = ProcessStart.of(process).orElse(ENDED);
    Files.writeString(file, process.pid() + " " + start + "\n");
    return new ChildRecord(file, name, process.pid(), start);
  }

  /// All records below `directory`.
  public static List<ChildRecord> below(Path directory) {
    var records = new ArrayList<ChildRecord>();
    try {
      Files.walkFileTree(directory, Set.of(), DEPTH, new Search(records));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + directory, e);
    }
    return records;
  }

  private static final class Search extends SimpleFileVisitor<Path> {
    private final List<ChildRecord> found;

    Search(List<ChildRecord> found) {
      this.found = found;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
      if (file.toString().endsWith(SUFFIX)) {
        read(file).ifPresent(found::add);
      }
      return FileVisitResult.CONTINUE;
    }

    /// The servers create and delete their own files meanwhile.
    @Override
    public FileVisitResult visitFileFailed(Path file, IOException gone) {
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException gone) {
      return FileVisitResult.CONTINUE;
    }
  }

  private static Optional<ChildRecord> read(Path file) {
    try {
      String[] words = Files.readString(file).strip().split(" ", 2);
      String fileName = file.getFileName().toString();
      return Optional.of(
          new ChildRecord(
              file,
              fileName.substring(0, fileName.length() - SUFFIX.length()),
              Long.parseLong(words[0]),
              words[1]));
    } catch (IOException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
      // Half written by a killed process: there is no process to find behind it.
      return Optional.empty();
    }
  }

  /// The process, if it is still the one that was recorded.
  public Optional<ProcessHandle> process() {
    return ProcessHandle.of(pid)
        .filter(ProcessHandle::isAlive)
        .filter(handle -> ProcessStart.of(handle).filter(start::equals).isPresent());
  }

  /// Asks the process to end, and kills it after `grace`.
  ///
  /// @return whether there was a process to end
  public boolean end(Duration grace) {
    return end(grace, grace, () -> {});
  }

  /// Like [#end(Duration)].
  ///
  /// @param whenSlow runs when the process still runs after `patience`
  public boolean end(Duration grace, Duration patience, Runnable whenSlow) {
    Optional<ProcessHandle> process = process();
    process.ifPresent(handle -> {
      handle.destroy();
      if (awaitExit(handle, patience)) {
        return;
      }
      whenSlow.run();
      if (!awaitExit(handle, grace.minus(patience))) {
        handle.destroyForcibly();
        awaitExit(handle, Duration.ofSeconds(5));
      }
    });
    forget();
    return process.isPresent();
  }

  /// Deletes the record, because the process has ended.
  public void forget() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + file, e);
    }
  }

  private static boolean awaitExit(ProcessHandle handle, Duration atMost) {
    try {
      return handle.onExit().get(atMost.toMillis(), TimeUnit.MILLISECONDS) != null;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "the end of process " + handle.pid() + " cannot be awaited", e);
    }
  }
}
