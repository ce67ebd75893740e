package io.pushplanet.cm.inbox;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.inbox.ParkedMessages.Then;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Rows whose end was told, in line to be deleted, many at once. While MySQL is away they wait. Those that it does not delete
/// together, because somebody holds one of them, are tried alone, beside all that comes: a transaction whose host has vanished
/// keeps its locks for a minute or so. Thread-safe; callers never wait.
final class Deletions implements AutoCloseable {
  static final int AT_ONCE = 256;

  /// How long nothing is tried alone when that has failed: it may have taken as long as a statement may.
  static final Duration ALONE_AFTER = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);
  private static final int MOST_ALONE = 10 * AT_ONCE;
  private static final int MOST_DEADLOCKS = 5;
  // For work, before it looks whether it shall end.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Deletion deletion;
  private final Reach reach;
  private final LongSupplier nanoTime;
  private final BlockingQueue<Done> waiting;
  private final BlockingQueue<Done> alone = new ArrayBlockingQueue<>(MOST_ALONE);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Counter failures;
  // Of the one thread that deletes.
  private long aloneAtNanos;

  /// Deletes these rows; those that are gone already do not matter. Blocks.
  interface Deletion {
    void delete(List<InboxRow> rows) throws SQLException;
  }

  /// Hears whether MySQL answers.
  interface Reach {
    /// @param why it does not
    void told(boolean reachable, String why);
  }

  private record Done(InboxRow row, Then then) {}

  /// @param most rows in line
  Deletions(int most, Deletion deletion, Reach reach, LongSupplier nanoTime, MeterRegistry meters) {
    this.waiting = new ArrayBlockingQueue<>(most);
    this.deletion = deletion;
    this.reach = reach;
    this.nanoTime = nanoTime;
    this.aloneAtNanos = nanoTime.getAsLong();
    this.failures = meters.counter("cm.inbox.delete.failures");
    Gauge.builder("cm.inbox.deletions.waiting", this, Deletions::size).register(meters);
  }

  void start() {
    Thread.ofVirtual().name("cm-inbox-delete").start(this::deleteForEver);
  }

  int size() {
    return waiting.size() + alone.size();
  }

  /// @param then told when the row is gone, or never will be by our hand
  void add(InboxRow row, Then then) {
    if (!waiting.offer(new Done(row, then))) {
      // It stays and comes again with the next connection: a duplicate, not a loss.
      then.done(true);
    }
  }

  private void deleteForEver() {
    while (closed.getCount() > 0) {
      try {
        turn();
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException | Error bug) {
        LOG.error("event=inbox_deleter_error", bug);
      }
    }
  }

  /// One deletion, of what is there or comes soon.
  void turn() throws InterruptedException {
    long pauseNanos = PATIENCE.toNanos();
    if (!alone.isEmpty()) {
      pauseNanos = Math.min(pauseNanos, aloneAtNanos - nanoTime.getAsLong());
      if (pauseNanos <= 0) {
        deleteAlone(alone.remove());
        return;
      }
    }
    if (alone.remainingCapacity() < AT_ONCE) {
      closed.await(pauseNanos, TimeUnit.NANOSECONDS);
      return;
    }
    var first = waiting.poll(pauseNanos, TimeUnit.NANOSECONDS);
    if (first != null) {
      var batch = new ArrayList<Done>();
      batch.add(first);
      waiting.drainTo(batch, AT_ONCE - 1);
      if (!isOver(batch)) {
        alone.addAll(batch);
      }
    }
  }

  private void deleteAlone(Done one) throws InterruptedException {
    if (!isOver(List.of(one))) {
      alone.add(one);
      aloneAtNanos = nanoTime.getAsLong() + ALONE_AFTER.toNanos();
    }
  }

  /// Deletes them.
  ///
  /// @return false where they have to be tried again
  private boolean isOver(List<Done> batch) throws InterruptedException {
    try {
      delete(batch.stream().map(Done::row).toList());
    } catch (SQLException held) {
      failures.increment();
      LOG.warn("event=inbox_delete_failed rows={} reason=\"{}\"", batch.size(), held.getMessage());
      return false;
    } catch (RuntimeException | Error bug) {
      LOG.error("event=inbox_delete_error rows={}", batch.size(), bug);
      failures.increment();
      // Told they are: the rows come again with the next connection, as what has no place in line.
    }
    batch.forEach(done -> done.then().done(true));
    return true;
  }

  /// As often as it takes where none would be deleted: MySQL is away.
  private void delete(List<InboxRow> rows) throws SQLException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        deletion.delete(rows);
        reach.told(true, "");
        return;
      } catch (SQLException failed) {
        if (isDeadlock(failed) && attempt <= MOST_DEADLOCKS) {
          continue;
        }
        if (!isAway(failed)) {
          throw failed;
        }
        failures.increment();
        reach.told(false, String.valueOf(failed.getMessage()));
        if (closed.await(Math.min(attempt, 10) * 200L, TimeUnit.MILLISECONDS)) {
          throw new InterruptedException("closed");
        }
      }
    }
  }

  /// "Transaction rollback": somebody who parks, or another node, had its rows in another order (ISO 9075, class 40).
  private static boolean isDeadlock(SQLException e) {
    return isOfClass("40", e);
  }

  /// "Connection exception" (ISO 9075, class 08), or the pool has none to give.
  private static boolean isAway(SQLException e) {
    return e instanceof SQLTransientConnectionException || isOfClass("08", e);
  }

  private static boolean isOfClass(String two, SQLException e) {
    var state = e.getSQLState();
    return state != null && state.startsWith(two);
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
