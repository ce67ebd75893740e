package io.pushplanet.gateway.database;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Limits how many batches of one priority's lanes use MySQL at once. A batch without a permit
/// waits here, in the order in which batches came and for as long as it takes. It does not wait for
/// a connection, because that wait fails after seconds: then a cancelled broadcast would go out, or
/// a device would get a second copy. Every permit comes back: the pool, the driver and the broker
/// have timeouts.
///
/// Work that holds a permit must not ask for another one: it would deadlock once all permits are
/// held so. Thread-safe; calls block.
public final class DatabasePermits {
  private final Semaphore free;

  /// Two fifths of a worker's connections for each of the two priorities, so that neither waits
  /// behind the other. A fifth is left for a worker's other statements, however slow the database
  /// is.
  ///
  /// @param poolSize a worker's connections, `pushplanet.mysql.pool-size`
  public DatabasePermits(int poolSize) {
    this.free = new Semaphore(most(poolSize), true);
  }

  public static int most(int poolSize) {
    return Math.max(1, poolSize * 2 / 5);
  }

  public void withPermit(Runnable work) {
    withPermit(() -> {
      work.run();
      return null;
    });
  }

  /// Does the work as soon as there is a permit.
  public <T extends @Nullable Object> T withPermit(Supplier<T> work) {
    free.acquireUninterruptibly();
    try {
      return work.get();
    } finally {
      free.release();
    }
  }
}
