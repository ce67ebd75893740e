package io.pushplanet.common.redis;

import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A connection to Redis, which may be away at the start: connecting is tried again, with jittered
/// pauses, until it succeeds for the first time; from then on Lettuce reconnects by itself.
/// Thread-safe.
public final class AwaitedConnection<C extends StatefulConnection<String, String>>
    implements AutoCloseable {
  /// The shortest pause; the longest is twice as long. They do not grow: an attempt costs Redis
  /// nothing while it is away, and the process needs it soon after it is back.
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Supplier<C> connect;
  private final Consumer<Throwable> failed;
  private final AtomicReference<@Nullable C> made = new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// @param connect makes the connection, or throws and leaves none open
  /// @param failed receives what it threw
  public AwaitedConnection(Supplier<C> connect, Consumer<Throwable> failed) {
    this.connect = connect;
    this.failed = failed;
  }

  /// Null until it is made.
  public @Nullable C get() {
    return made.get();
  }

  /// Tries once.
  ///
  /// @return whether the connection is made
  public boolean connects() {
    try {
      C connection = connect.get();
      made.set(connection);
      if (closed.getCount() == 0) {
        // The close came while the connection was being made, and found none.
        connection.close();
      }
      return true;
    } catch (RuntimeException | Error e) {
      // Errors as well: no other thread would try again.
      failed.accept(e);
      return false;
    }
  }

  /// Tries again, each time after a pause, until the connection is made or this is closed.
  ///
  /// @return whether the connection is made
  public boolean connectsLater() {
    try {
      long millis = PAUSE.toMillis();
      while (!closed.await(
          millis + ThreadLocalRandom.current().nextLong(millis), TimeUnit.MILLISECONDS)) {
        if (connects()) {
          return true;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /// Closes the connection, also one that is still being made.
  @Override
  public void close() {
    closed.countDown();
    C connection = made.get();
    if (connection != null) {
      connection.close();
    }
  }
}
