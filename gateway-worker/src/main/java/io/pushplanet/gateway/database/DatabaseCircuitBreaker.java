package io.pushplanet.gateway.database;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

/// Says whether MySQL is worth a query that can be left out. While MySQL cannot be reached, one
/// caller in [#EVERY] tries it, which costs that caller the pool's timeout; all others are told no
/// at once. Thread-safe.
public final class DatabaseCircuitBreaker {
  private static final Logger LOG = LoggerFactory.getLogger(DatabaseCircuitBreaker.class);
  public static final Duration EVERY = Duration.ofSeconds(3);

  private final LongSupplier nanoTime;

  /// When the next caller may try; null while MySQL answers.
  private final AtomicReference<@Nullable Long> nextTryNanos = new AtomicReference<>();

  /// @param nanoTime never set, unlike a clock
  public DatabaseCircuitBreaker(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /// Asks MySQL, if it is worth a query.
  ///
  /// @param failure what is logged without an answer: `event=` and its keys
  /// @return empty without an answer
  public <T> Optional<T> ask(String failure, Supplier<T> query) {
    if (!mayAsk()) {
      return Optional.empty();
    }
    try {
      T answer = query.get();
      answered();
      return Optional.of(answer);
    } catch (DataAccessException e) {
      if (isAway(e)) {
        failed();
      }
      LOG.warn("{} reason=\"{}\"", failure, e.toString());
      return Optional.empty();
    }
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
