package io.pushplanet.gateway.database;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

/// Says whether MySQL is worth a query that can be left out. While MySQL cannot be reached, one
/// caller in [#EVERY] tries it, which costs that caller the pool's timeout; all others are told no
/// at once. Thread-safe.
public final class DatabaseCircuitBreaker {
  public static final Duration EVERY = Duration.ofSeconds(3);

  private final LongSupplier nanoTime;

  /// When the next caller may try; null while MySQL answers.
  private final AtomicReference<@Nullable Long> nextTryNanos = new AtomicReference<>();

  /// @param nanoTime never set, unlike a clock
  public DatabaseCircuitBreaker(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /// After yes the caller queries MySQL, and reports the result here.
  public boolean mayAsk() {
    Long next = nextTryNanos.get();
    return next == null
        || (nanoTime.getAsLong() - next >= 0 && nextTryNanos.compareAndSet(next, later()));
  }

  public void answered() {
    nextTryNanos.set(null);
  }

  public void failed(DataAccessException why) {
    if (isAway(why)) {
      failed();
    }
  }

  /// Opens the circuit, whatever failed.
  public void failed() {
    nextTryNanos.set(later());
  }

  private Long later() {
    return nanoTime.getAsLong() + EVERY.toNanos();
  }

  /// Where all of the pool's connections are in use, it throws the same exception, but MySQL is
  /// there: its most specific cause tells the two apart.
  private static boolean isAway(DataAccessException why) {
    return why instanceof CannotGetJdbcConnectionException
        && !(NestedExceptionUtils.getMostSpecificCause(why)
            instanceof SQLTransientConnectionException);
  }
}
