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

/// Deletes rows whose end was told, many at once. While MySQL is away they wait. When a batch fails
/// because another transaction holds one of its rows, the rows are tried one by one, in between
/// newer batches: a transaction whose host has vanished keeps its locks for about a minute.
/// Thread-safe; callers never wait.
final class Deletions implements AutoCloseable {
  static final int AT_ONCE = 256;

  /// After a failed single deletion, none is tried for this long: it may have taken as long as a
  /// statement may.
  static final Duration ALONE_AFTER = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);
  private static final int MAX_ALONE = 10 * AT_ONCE;
  private static final int MAX_DEADLOCKS = 5;

  /// How long the thread waits for work before it checks whether it has to end.
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Deletion deletion;
  private final DatabaseHealth health;
  private final LongSupplier nanoTime;
  private final BlockingQueue<Done> waiting;
  private final BlockingQueue<Done> alone = new ArrayBlockingQueue<>(MAX_ALONE);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Counter failures;
  // Used only by the deleting thread.
  private long aloneAtNanos;

  /// Deletes these rows; missing ones do not matter. Blocks.
  interface Deletion {
    void delete(List<InboxRow> rows) throws SQLException;
  }

  private record Done(InboxRow row, Then then) {}

  /// @param most how many rows may wait
  Deletions(
      int most,
      Deletion deletion,
      DatabaseHealth health,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.waiting = new ArrayBlockingQueue<>(most);
    this.deletion = deletion;
    this.health = health;
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

  /// @param then called when the row is gone, or when this node gives up deleting it
  void add(InboxRow row, Then then) {
    if (!waiting.offer(new Done(row, then))) {
      // The row stays and comes again with the next connection: a duplicate, not a loss.
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

  /// Deletes one batch of the rows that wait or arrive soon.
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
    Done first = waiting.poll(pauseNanos, TimeUnit.NANOSECONDS);
    if (first != null) {
      var batch = new ArrayList<Done>();
      batch.add(first);
      waiting.drainTo(batch, AT_ONCE - 1);
      if (!tryDelete(batch)) {
        alone.addAll(batch);
      }
    }
  }

  private void deleteAlone(Done one) throws InterruptedException {
    if (!tryDelete(List.of(one))) {
      alone.add(one);
      aloneAtNanos = nanoTime.getAsLong() + ALONE_AFTER.toNanos();
    }
  }

  /// @return false when the rows have to be tried again
  private boolean tryDelete(List<Done> batch) throws InterruptedException {
    try {
      delete(batch.stream().map(Done::row).toList());
    } catch (SQLException held) {
      failures.increment();
      LOG.warn("event=inbox_delete_failed rows={} reason=\"{}\"", batch.size(), held.getMessage());
      return false;
    } catch (RuntimeException | Error bug) {
      LOG.error("event=inbox_delete_error rows={}", batch.size(), bug);
      failures.increment();
      // Their ends were told. The rows come again with the next connection, like rows that find no
      // place here.
    }
    batch.forEach(done -> done.then().done(true));
    return true;
  }

  /// Repeats the deletion while MySQL is away, because no other deletion could succeed then.
  private void delete(List<InboxRow> rows) throws SQLException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        deletion.delete(rows);
        health.answered();
        return;
      } catch (SQLException failed) {
        if (isDeadlock(failed) && attempt <= MAX_DEADLOCKS) {
          continue;
        }
        if (!isAway(failed)) {
          throw failed;
        }
        failures.increment();
        health.failed(failed);
        if (closed.await(Math.min(attempt, 10) * 200L, TimeUnit.MILLISECONDS)) {
          throw new InterruptedException("closed");
        }
      }
    }
  }

  /// "Transaction rollback": another transaction had locked the rows in another order (ISO 9075,
  /// class 40).
  private static boolean isDeadlock(SQLException e) {
    return isOfClass("40", e);
  }

  /// "Connection exception" (ISO 9075, class 08), or the pool has no connection.
  private static boolean isAway(SQLException e) {
    return e instanceof SQLTransientConnectionException || isOfClass("08", e);
  }

  private static boolean isOfClass(String two, SQLException e) {
    String state = e.getSQLState();
    return state != null && state.startsWith(two);
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
