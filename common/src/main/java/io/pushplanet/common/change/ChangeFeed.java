package io.pushplanet.common.change;

import io.pushplanet.common.message.AppId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Notifies this process of changes to apps, keys and credentials that any process has committed,
/// within [#PERIOD] and the database's answer time. [#record] writes a change in the transaction
/// that makes it, so that no change can be missed.
///
/// Ids are assigned before their transactions commit, so each reading goes back [#OVERLAP] ids and
/// skips the changes reported before. After an outage of the database the listener gets all changes
/// since. A change whose listener throws is reported again with the next reading, and does not
/// delay other changes.
///
/// After a failover to a replica that lacked the last commits, MySQL assigns their ids again, and a
/// cache may hold what was never made. So the feed begins anew when the newest change that it knows
/// is gone. Thread-safe.
public final class ChangeFeed implements AutoCloseable {
  /// How often the table is read: one short SELECT by primary key.
  public static final Duration PERIOD = Duration.ofMillis(300);

  private static final Logger LOG = LoggerFactory.getLogger(ChangeFeed.class);
  private static final int OVERLAP = 200;
  private static final int MAX_ROWS = 10_000;

  private final DataSource database;
  private final Consumer<Change> listener;
  private final Runnable reset;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final SequencedSet<Row> seen = new LinkedHashSet<>();

  /// Changes that were read, but not reported without an exception.
  private final List<Change> untold = new ArrayList<>();

  private long last;
  private boolean failing;

  /// @param change empty when its kind is of a newer version, during a rolling update: this version
  ///     has no cache of it
  private record Row(long id, Instant at, Optional<Change> change) {}

  private ChangeFeed(DataSource database, Consumer<Change> listener, Runnable reset) {
    this.database = database;
    this.listener = listener;
    this.reset = reset;
  }

  /// Starts to call `listener`, from a thread of its own, for changes committed from now on.
  ///
  /// @param reset empties all caches: before the first change, and whenever changes may have been
  ///     lost
  /// @throws SQLException when the database cannot be read
  public static ChangeFeed follow(DataSource database, Consumer<Change> listener, Runnable reset)
      throws SQLException {
    ChangeFeed feed = new ChangeFeed(database, listener, reset);
    feed.begin();
    Thread.ofVirtual().name("change-feed").start(feed::run);
    return feed;
  }

  /// Writes a change. Call it in the transaction of `connection` that makes the change.
  public static void record(
      Connection connection, Clock clock, Change.Kind kind, AppId app, String subject)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO changes (kind, app_id, subject, at) VALUES (?, ?, ?, ?)")) {
      insert.setString(1, kind.word());
      insert.setString(2, app.value());
      insert.setString(3, subject);
      insert.setTimestamp(4, Timestamp.from(clock.instant()));
      insert.executeUpdate();
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void run() {
    try {
      while (!closed.await(PERIOD.toMillis(), TimeUnit.MILLISECONDS)) {
        readOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void begin() throws SQLException {
    long newest = newest();
    List<Row> earlier = after(newest - OVERLAP);
    reset.run();
    last = newest;
    seen.clear();
    seen.addAll(earlier);
  }

  private void readOnce() {
    try {
      // A full list leaves the changes in the table: every queue has a limit.
      if (untold.size() < MAX_ROWS) {
        List<Row> rows = after(last - OVERLAP);
        if (isLastAmong(rows)) {
          take(rows);
        } else {
          long lost = last;
          begin();
          LOG.warn("event=changes_lost last={} newest={}", lost, last);
        }
      }
      untold.removeIf(this::isTold);
      failing = !untold.isEmpty();
    } catch (SQLException | RuntimeException | Error e) {
      failed(e);
    }
  }

  private boolean isLastAmong(List<Row> rows) {
    return last == 0 || rows.stream().anyMatch(row -> row.id() == last && seen.contains(row));
  }

  private void take(List<Row> rows) {
    for (Row row : rows) {
      if (seen.add(row)) {
        last = Math.max(last, row.id());
        row.change().ifPresent(untold::add);
      }
    }
    while (seen.size() > 2 * OVERLAP) {
      seen.removeFirst();
    }
  }

  private boolean isTold(Change change) {
    try {
      listener.accept(change);
      return true;
    } catch (RuntimeException | Error e) {
      failed(e);
      return false;
    }
  }

  private void failed(Throwable e) {
    if (!failing) {
      LOG.warn("event=change_feed_failed reason=\"{}\"", e.toString());
    }
    failing = true;
  }

  private long newest() throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement select =
            connection.prepareStatement("SELECT COALESCE(MAX(id), 0) FROM changes");
        ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private List<Row> after(long id) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement select =
            connection.prepareStatement(
                "SELECT id, kind, app_id, subject, at FROM changes WHERE id > ? ORDER BY id LIMIT "
                    + MAX_ROWS)) {
      select.setLong(1, id);
      List<Row> rows = new ArrayList<>();
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          rows.add(read(row));
        }
      }
      return rows;
    }
  }

  private static Row read(ResultSet row) throws SQLException {
    long id = row.getLong(1);
    Optional<Change.Kind> known = Change.Kind.of(row.getString(2));
    var app = new AppId(row.getString(3));
    String subject = row.getString(4);
    Instant at = row.getTimestamp(5).toInstant();
    return new Row(id, at, known.map(kind -> new Change(id, kind, app, subject)));
  }
}
