package io.pushplanet.gateway.http2;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/// Lets programs do their parts one after the other: who has a turn holds the lock on a file that
/// they share.
final class Turns {
  /// A lock is not handed over: who waits for it has to wake up and take it.
  private static final long HAND_OVER_MILLIS = 200;

  private final Path file;

  @FunctionalInterface
  interface Part<T> {
    T run() throws IOException, InterruptedException;
  }

  Turns(Path file) {
    this.file = file;
  }

  <T> T take(Part<T> part) throws IOException, InterruptedException {
    TimeUnit.MILLISECONDS.sleep(HAND_OVER_MILLIS);
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      return part.run();
    }
  }
}
