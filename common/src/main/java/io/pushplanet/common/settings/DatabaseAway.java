package io.pushplanet.common.settings;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;

/// Distinguishes a database that is away, too busy to answer in time, or accepts no changes from a
/// bug. The same request may succeed later.
public final class DatabaseAway {
  private DatabaseAway() {}

  public static boolean isCauseOf(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      // A transaction that can neither be committed nor rolled back has lost its connection.
      if (cause instanceof TransactionSystemException
          || cause instanceof CannotCreateTransactionException
          || cause instanceof SQLTransientException
          || cause instanceof SQLNonTransientConnectionException
          || cause instanceof SQLRecoverableException
          || (cause instanceof SQLException refusal && ReadOnlyDatabase.isToldBy(refusal))) {
        return true;
      }
    }
    return false;
  }
}
