package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// Allows one platform at a time to use a state directory. The lock ends with the process that
/// holds it.
public final class StateLock implements AutoCloseable {
  /// The file that records the process that holds the lock.
  public static final String SUPERVISOR = "supervisor";

  private final FileChannel file;
  private final @Nullable ChildRecord supervisor;

  private StateLock(FileChannel file, @Nullable ChildRecord supervisor) {
    this.file = file;
    this.supervisor = supervisor;
  }

  /// For the process that starts the platform's processes.
  ///
  /// @throws StartRefused when a platform is up with this state
  static StateLock take(Path state) {
    FileChannel file = lock(state, "lock");
    return new StateLock(file, ChildRecord.ofThisProcess(state, SUPERVISOR));
  }

  /// For the process that starts a supervisor and waits until that is ready. No other process can
  /// do the same meanwhile, so the supervisor's log stays the right one.
  ///
  /// @throws StartRefused when a platform is up with this state, or being started
  public static StateLock takeToStart(Path state) {
    var start = new StateLock(lock(state, "start.lock"), null);
    try {
      new StateLock(lock(state, "lock"), null).close();
      return start;
    } catch (RuntimeException e) {
      start.close();
      throw e;
    }
  }

  private static FileChannel lock(Path state, String name) {
    try {
      Files.createDirectories(state);
      FileChannel file =
          FileChannel.open(
              state.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (tryLock(file)) {
        return file;
      }
      file.close();
    } catch (IOException e) {
      throw new StartRefused(
          StartRefused.Reason.STATE_UNUSABLE, "cannot use the state directory " + state + ": " + e);
    }
    throw upAlready(state);
  }

  private static StartRefused upAlready(Path state) {
    String process =
        ChildRecord.below(state).stream()
            .filter(record -> record.name().equals(SUPERVISOR) && record.process().isPresent())
            .map(record -> " (process " + record.pid() + ")")
            .findFirst()
            .orElse("");
    return new StartRefused(
        StartRefused.Reason.UP_ALREADY,
        """
        a platform%s is up already, or starting, with its state in %s; \
        see it with ./pushplanet status '--state=%s', stop it with ./pushplanet down '--state=%s', \
        or choose another --state=DIRECTORY\
        """
            .formatted(process, state, state, state));
  }

  private static boolean tryLock(FileChannel file) throws IOException {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      if (supervisor != null) {
        supervisor.forget();
      }
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
