package io.pushplanet.gateway.database;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;

/// Repeats work after a deadlock. The database ends a deadlock by rolling back one of its
/// transactions, and that loses nothing if the work is done again.
public final class Deadlocks {
  private static final int MAX_TRIES = 5;

  private Deadlocks() {}

  /// @throws ConcurrencyFailureException of the last try
  public static void retrying(Runnable work) {
    retrying(() -> {
      work.run();
      return null;
    });
  }

  /// Does work that may be done twice, and repeats it when it was rolled back: five times in all.
  ///
  /// @throws ConcurrencyFailureException of the last try
  public static <T extends @Nullable Object> T retrying(Supplier<T> work) {
    for (int tried = 1; ; tried++) {
      try {
        return work.get();
      } catch (ConcurrencyFailureException e) {
        if (tried == MAX_TRIES) {
          throw e;
        }
      }
    }
  }
}
