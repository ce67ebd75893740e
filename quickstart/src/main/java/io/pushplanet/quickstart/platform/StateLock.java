package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// One platform at a time uses a state directory. The lock ends with the process that holds it.
final class StateLock implements AutoCloseable {
  static final String SUPERVISOR = "supervisor";

  private final FileChannel file;
  private final ChildRecord supervisor;

  private StateLock(FileChannel file, ChildRecord supervisor) {
    this.file = file;
    this.supervisor = supervisor;
  }

  static StateLock take(Path state) {
    try {
      Files.createDirectories(state);
      FileChannel file =
          FileChannel.open(
              state.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (tryLock(file)) {
        return new StateLock(file, ChildRecord.ofThisProcess(state, SUPERVISOR));
      }
      file.close();
      throw new Refusal(
          ExitCode.ALREADY_RUNNING,
          "a platform is up already with its state in "
              + state
              + "; see ./pushplanet status, end it with ./pushplanet down, or choose another --state=DIRECTORY");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot use the state directory " + state, e);
    }
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
      supervisor.forget();
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
