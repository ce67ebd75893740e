package io.pushplanet.dashboard.page;

import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;

/// Distinguishes a database that is away, or too busy to answer in time, from a bug.
public final class DatabaseAway {
  private DatabaseAway() {}

  public static boolean isCauseOf(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLTransientConnectionException
          || cause instanceof SQLNonTransientConnectionException
          || cause instanceof SQLRecoverableException
          || cause instanceof SQLTimeoutException) {
        return true;
      }
    }
    return false;
  }
}
