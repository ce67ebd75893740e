package io.pushplanet.gateway.lane;

import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The turns at MySQL of the batches of one priority's lanes: so many of them ask it or write to it at once. Those behind them
/// wait here, in the order they came and for as long as it takes, not for a connection, which fails after seconds: a cancelled
/// broadcast would go out, or a device get a second copy. Every turn ends: the pool, the driver and the broker are waited for
/// with deadlines.
///
/// Work that has a turn never asks for another one: as many as there are, each waiting for one more, would wait for ever.
/// Thread-safe; calls block.
public final class DatabaseTurns {
  private final Semaphore free;

  /// Two fifths of a worker's connections, for each of the two priorities: neither waits behind the other, and a fifth is left
  /// to what else a worker writes, however slow the database is.
  ///
  /// @param poolSize a worker's connections, `pushplanet.mysql.pool-size`
  DatabaseTurns(int poolSize) {
    this.free = new Semaphore(most(poolSize), true);
  }

  public static int most(int poolSize) {
    return Math.max(1, poolSize * 2 / 5);
  }

  public void take(Runnable work) {
    take(() -> {
      work.run();
      return null;
    });
  }

  /// Does it as soon as there is a turn.
  public <T extends @Nullable Object> T take(Supplier<T> work) {
    free.acquireUninterruptibly();
    try {
      return work.get();
    } finally {
      free.release();
    }
  }
}
