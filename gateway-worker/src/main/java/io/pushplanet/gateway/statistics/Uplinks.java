package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent.Uplink;
import io.pushplanet.gateway.inbox.Deadlocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// The table `uplinks`. An app's backend reads on behind the last id it has seen, so ids of one app are given out only when
/// all before them are committed: until then its row in `apps` is locked, in a transaction that does nothing else.
///
/// Nobody waits for that lock longer than other writers need: a worker that has vanished holds it until the database ends its
/// session, and would hold up whatever is written after its app's uplinks. Thread-safe.
final class Uplinks {
  /// With pauses that double, and are cut by up to a half so that writers do not meet again: some 500 ms in all.
  private static final int MOST_TRIES = 7;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

  private static final String APPS = "SELECT id FROM apps WHERE id IN (%s) ORDER BY id";
  private static final String LOCK_APPS = APPS + " FOR UPDATE SKIP LOCKED";

  private static final BulkInsert INSERT =
      new BulkInsert(
          "INSERT INTO uplinks (event_id, app_id, device_id, at, payload)",
          5,
          "ON DUPLICATE KEY UPDATE event_id = event_id");

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  // Who was there in vain for all tries has one until the row is free.
  private volatile boolean heldForLong;

  Uplinks(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = new TransactionTemplate(new JdbcTransactionManager(database));
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
  }

  /// @return those whose app somebody else holds; they are not written
  /// @throws org.springframework.dao.DataAccessException when some were not written
  List<Uplink> write(List<Uplink> uplinks) {
    List<Uplink> left = uplinks;
    int most = heldForLong ? 1 : MOST_TRIES;
    for (int tried = 0; !left.isEmpty() && tried < most; tried++) {
      if (tried > 0) {
        long pause = FIRST_PAUSE.toNanos() << (tried - 1);
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(pause / 2, pause));
      }
      List<Uplink> some = left;
      List<Uplink> unwritten =
          Deadlocks.retrying(() -> transactions.execute(_ -> writeInTransaction(some)));
      left = unwritten == null ? List.of() : unwritten;
    }
    heldForLong = !left.isEmpty();
    return left;
  }

  private List<Uplink> writeInTransaction(List<Uplink> uplinks) {
    Set<String> held = lock(uplinks);
    List<Uplink> left = new ArrayList<>();
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Uplink uplink : uplinks) {
      if (held.contains(uplink.app().value())) {
        left.add(uplink);
      } else {
        rows.add(values(uplink));
      }
    }
    database.execute(
        (ConnectionCallback<@Nullable Void>)
            connection -> {
              INSERT.write(connection, rows);
              return null;
            });
    return left;
  }

  /// @return the apps that are locked by somebody else; one that is not there is nobody's
  private Set<String> lock(List<Uplink> uplinks) {
    Set<String> apps = new TreeSet<>();
    uplinks.forEach(uplink -> apps.add(uplink.app().value()));
    Set<String> locked = new HashSet<>(ids(LOCK_APPS, apps));
    Set<String> held = new HashSet<>();
    if (locked.size() < apps.size()) {
      held.addAll(ids(APPS, apps));
      held.removeAll(locked);
    }
    return held;
  }

  private List<String> ids(String sql, Set<String> apps) {
    String marks = String.join(", ", Collections.nCopies(apps.size(), "?"));
    return database.query(sql.formatted(marks), (row, _) -> row.getString("id"), apps.toArray());
  }

  private static Object[] values(Uplink uplink) {
    return new Object[] {
      uplink.id(), uplink.app().value(), uplink.device().value(), uplink.at(), uplink.payload()
    };
  }
}
