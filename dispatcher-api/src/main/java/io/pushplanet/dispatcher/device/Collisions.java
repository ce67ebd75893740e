package io.pushplanet.dispatcher.device;

import java.sql.SQLException;
import java.util.function.Supplier;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionOperations;

/// Registrations of one device or one token at once may deadlock or collide, which loses nothing when it is done again.
final class Collisions {
  static final int MOST_TRIES = 4;

  /// ER_LOCK_WAIT_TIMEOUT: whoever holds a row for so long will hold it for the next try, too
  /// (https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html#error_er_lock_wait_timeout).
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private Collisions() {}

  /// Those that have to be tried again are so one after the other: else they would meet again, and one of them at a time would get
  /// through.
  ///
  /// @param takeTurns within the transaction of each try after the first
  /// @throws DataAccessException of the last try
  static <T> T retrying(TransactionOperations transactions, Runnable takeTurns, Supplier<T> work) {
    for (int attempt = 1; ; attempt++) {
      boolean again = attempt > 1;
      try {
        T done =
            transactions.execute(_ -> {
              if (again) {
                takeTurns.run();
              }
              return work.get();
            });
        if (done == null) {
          throw new IllegalStateException("a transaction without a result");
        }
        return done;
      } catch (PessimisticLockingFailureException | DuplicateKeyException e) {
        if (attempt == MOST_TRIES || waitedInVain(e)) {
          throw e;
        }
      }
    }
  }

  private static boolean waitedInVain(DataAccessException e) {
    return e.getMostSpecificCause() instanceof SQLException refused
        && refused.getErrorCode() == LOCK_WAIT_TIMEOUT;
  }
}
