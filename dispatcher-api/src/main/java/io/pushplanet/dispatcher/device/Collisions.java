package io.pushplanet.dispatcher.device;

import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.transaction.support.TransactionOperations;

/// Repeats registrations that collide. Registrations of one device or one token at the same time
/// may deadlock or violate a key, and nothing is lost when they are done again. This process
/// repeats those of one app one after the other: otherwise they would collide again, and only one
/// at a time would succeed. A registration that waits for its repeat holds no connection and no
/// row.
///
/// Registrations, also changes and deletions, leave [#LEFT_TO_OTHERS] connections to MySQL to other
/// requests. Those of one app take at most half of the rest, even when they all wait for one row;
/// more of them wait in line without a connection. Thread-safe.
final class Collisions {
  /// Each new registration collides once with the one that is being repeated; when many devices
  /// register one token, there are many.
  static final int MAX_TRIES = 32;

  private static final Logger LOG = LoggerFactory.getLogger(Collisions.class);
  private static final int TURNS = 64;
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
  private static final Duration A_LITTLE_LATER = Duration.ofSeconds(2);

  /// Connections that no registration takes, where the process has at least four.
  private static final int LEFT_TO_OTHERS = 2;

  /// How many registrations wait; of one app half of that.
  private static final int MAX_IN_LINE = 4_000;

  /// In each of the two lines, the app's and the one of all apps. The pool's own line is as long.
  private static final Duration LONGEST_IN_LINE = Duration.ofSeconds(3);

  /// ER_LOCK_WAIT_TIMEOUT: a transaction that holds a row for so long will still hold it at the
  /// next try
  /// (https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html#error_er_lock_wait_timeout).
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private final TransactionOperations transactions;
  private final AppBulkheads line;
  // The lock of an app is chosen by its hash: two apps that share a lock only wait for each other.
  private final List<ReentrantLock> turns =
      Stream.generate(() -> new ReentrantLock(true)).limit(TURNS).toList();

  /// @param connections how many this process has at most
  Collisions(TransactionOperations transactions, int connections) {
    this.transactions = transactions;
    this.line =
        new AppBulkheads(
            Math.max(2, connections - LEFT_TO_OTHERS),
            MAX_IN_LINE,
            LONGEST_IN_LINE,
            ProblemCode.OVERLOADED,
            "Too many devices are registered or changed just now. Send it again, or fewer at once.");
  }

  /// Does work in a transaction, at most [#MAX_TRIES] times.
  ///
  /// @throws ProblemException 503 when it still collides, when it waited too long, or when too much
  ///     waits already; the work would succeed some time later
  <T> T retrying(AppId app, Supplier<T> work) {
    return line.call(app, 1, () -> tried(app, work));
  }

  private <T> T tried(AppId app, Supplier<T> work) {
    try {
      return once(work);
    } catch (PessimisticLockingFailureException | DuplicateKeyException e) {
      if (waitedInVain(e)) {
        throw tooMany(e);
      }
      return inTurn(app, work, e);
    }
  }

  private <T> T inTurn(AppId app, Supplier<T> work, DataAccessException first) {
    ReentrantLock turn = turns.get(Math.floorMod(app.hashCode(), TURNS));
    await(turn, first);
    try {
      for (int attempt = 2; ; attempt++) {
        try {
          return once(work);
        } catch (PessimisticLockingFailureException | DuplicateKeyException e) {
          if (attempt == MAX_TRIES || waitedInVain(e)) {
            throw tooMany(e);
          }
        }
      }
    } finally {
      turn.unlock();
    }
  }

  private static void await(ReentrantLock turn, DataAccessException first) {
    try {
      if (!turn.tryLock(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
        throw tooMany(first);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw tooMany(first);
    }
  }

  private <T> T once(Supplier<T> work) {
    T done = transactions.execute(_ -> work.get());
    if (done == null) {
      throw new IllegalStateException("a transaction without a result");
    }
    return done;
  }

  private static ProblemException tooMany(DataAccessException last) {
    LOG.warn("event=registration_collided reason=\"{}\"", last.getMostSpecificCause().getMessage());
    return ProblemException.retryable(
        ProblemCode.DATABASE_UNAVAILABLE,
        "Others change the same devices or tokens just now. Try again.",
        A_LITTLE_LATER,
        last);
  }

  private static boolean waitedInVain(DataAccessException e) {
    return e.getMostSpecificCause() instanceof SQLException refused
        && refused.getErrorCode() == LOCK_WAIT_TIMEOUT;
  }
}
