package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent.Uplink;
import io.pushplanet.common.lane.Pause;
import io.pushplanet.common.message.Json;
import io.pushplanet.gateway.database.Deadlocks;
import io.pushplanet.gateway.database.Transactions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// The table `uplinks`. An app's backend reads on behind the last id that it has seen, so an app's
/// ids are given out only when all lower ones are committed. Until then its row in `apps` is
/// locked, in a transaction that does nothing else.
///
/// A writer waits for that lock only for as long as other writers need it. A worker that has
/// vanished holds it until the database ends its session, and all events written after the app's
/// uplinks would wait as well. Thread-safe.
final class Uplinks {
  /// The pauses double, and are cut by up to a half so that two writers do not meet again: some 500
  /// ms in all.
  private static final int MAX_TRIES = 7;

  private static final Duration FIRST_PAUSE = Duration.ofMillis(10);

  private static final String APPS = "SELECT id FROM apps WHERE id IN (%s) ORDER BY id";
  private static final String LOCK_APPS = APPS + " FOR UPDATE SKIP LOCKED";

  private static final BulkInsert INSERT =
      new BulkInsert(
          "INSERT INTO uplinks (event_id, app_id, device_id, at, payload, user_properties)",
          6,
          "ON DUPLICATE KEY UPDATE event_id = event_id");

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  // After all tries in vain, a writer tries only once until the row is free.
  private volatile boolean heldForLong;

  Uplinks(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
  }

  /// @return the uplinks whose app another writer has locked; they are not written
  /// @throws org.springframework.dao.DataAccessException when some were not written
  List<Uplink> write(List<Uplink> uplinks) {
    List<Uplink> left = uplinks;
    int most = heldForLong ? 1 : MAX_TRIES;
    for (int tried = 0; !left.isEmpty() && tried < most; tried++) {
      if (tried > 0) {
        long pause = FIRST_PAUSE.toNanos() << (tried - 1);
        Pause.nanos(ThreadLocalRandom.current().nextLong(pause / 2, pause));
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

  /// @return the apps that other writers have locked; an app that does not exist is not among them
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

  private static @Nullable Object[] values(Uplink uplink) {
    Json userProperties = uplink.userProperties();
    return new @Nullable Object[] {
      uplink.id(),
      uplink.app().value(),
      uplink.device().value(),
      uplink.at(),
      uplink.payload(),
      userProperties == null ? null : userProperties.text()
    };
  }
}
