package io.pushplanet.gateway.parcel;

import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

/// Whether MySQL is worth a question that can be left out. Where it could not be reached, one caller in [#EVERY] finds out whether it
/// is back, at the price of the pool's deadline; the others know at once. Thread-safe.
public final class Reachability {
  static final Duration EVERY = Duration.ofSeconds(3);

  private final LongSupplier nanoTime;

  /// When the next may try; null while it is there.
  private final AtomicReference<@Nullable Long> nextTryNanos = new AtomicReference<>();

  /// @param nanoTime never set, unlike a clock
  public Reachability(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /// Whoever may ask tells what came of it.
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

  /// It is not asked for a while.
  public void failed() {
    nextTryNanos.set(later());
  }

  private Long later() {
    return nanoTime.getAsLong() + EVERY.toNanos();
  }

  /// A pool whose connections are all in use says so with nothing behind it: there is one for whoever waits.
  private static boolean isAway(DataAccessException why) {
    return why instanceof CannotGetJdbcConnectionException
        && !(NestedExceptionUtils.getMostSpecificCause(why)
            instanceof SQLTransientConnectionException);
  }
}
