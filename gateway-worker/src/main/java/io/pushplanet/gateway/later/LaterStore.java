package io.pushplanet.gateway.later;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.gateway.database.Deadlocks;
import io.pushplanet.gateway.database.Transactions;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// The table `later`. Rows are durable when [#keep] returns. Thread-safe.
public final class LaterStore {
  private static final String INSERT =
      """
      INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE due_at = due_at
      """;
  private static final String WAITING =
      """
       FROM later FORCE INDEX (later_by_reason)
      WHERE lane = ? AND app_id = ? AND reason = ? AND due_at > ? AND (due_at > ? OR (due_at = ? AND id > ?))
      ORDER BY due_at, id LIMIT ?
      """;
  private static final String CHOOSE = "SELECT due_at, id, '' AS message_id" + WAITING;

  /// Reads whole rows, which are updated anyway.
  private static final String CHOOSE_WITH_MESSAGE = "SELECT due_at, id, message_id" + WAITING;

  private static final String NEXT_APP =
      "SELECT MIN(app_id) FROM later WHERE lane = ? AND app_id > ?";
  private static final String WAITS =
      """
      SELECT EXISTS (SELECT 1 FROM later FORCE INDEX (later_by_reason) WHERE lane = ? AND app_id = ? AND reason = ?)
      """;
  private static final String LAST_DUE =
      "SELECT MAX(due_at) FROM later FORCE INDEX (later_by_reason) WHERE lane = ? AND app_id = ? AND reason = ?";
  private static final int LONGEST_REASON = 128;
  private static final int AT_ONCE = 500;

  /// Each row repeats the message that hundreds of pushes shared until then: all rows of a large
  /// one would fill a small heap.
  static final int CHARACTERS_AT_ONCE = 4 * 1024 * 1024;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;

  public LaterStore(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
  }

  /// @throws org.springframework.dao.DataAccessException when the rows may not be there: then do
  ///     not acknowledge
  public void keep(Collection<Later> waiting) {
    List<Object[]> rows = new ArrayList<>();
    int characters = 0;
    for (Later later : waiting.stream().sorted(Later.BY_ID).toList()) {
      String pushes = later.pushes();
      rows.add(row(later, pushes));
      characters += pushes.length();
      if (characters >= CHARACTERS_AT_ONCE) {
        insert(rows);
        rows.clear();
        characters = 0;
      }
    }
    insert(rows);
  }

  private static Object[] row(Later later, String pushes) {
    return new Object[] {
      later.id().toString(),
      Timestamp.from(later.dueAt()),
      later.push().app().value(),
      later.push().id().value(),
      later.lane(),
      shortened(later.reason()),
      pushes
    };
  }

  private void insert(List<Object[]> rows) {
    if (!rows.isEmpty()) {
      Deadlocks.retrying(() -> database.batchUpdate(INSERT, rows));
    }
  }

  /// Makes the rows that wait in these lanes for one of these reasons due now, some at a time, each
  /// time from where the last time ended. Rows are chosen without locks, and then locked by their
  /// primary key alone and in its order, so that it waits for workers that claim or cancel them,
  /// but never in a circle.
  ///
  /// @return how many rows
  public int bringAllForward(
      AppId app, Collection<String> lanes, Collection<String> reasons, Instant now) {
    int all = 0;
    for (String lane : lanes) {
      for (String reason : reasons.stream().map(LaterStore::shortened).distinct().toList()) {
        all += bringForward(app, lane, reason, now, Integer.MAX_VALUE);
      }
    }
    return all;
  }

  /// Does the same for at most `most` rows of an app, the earliest due first.
  public int bringForward(AppId app, String lane, String reason, Instant now, int most) {
    String shortReason = shortened(reason);
    // The column holds milliseconds.
    Timestamp due = Timestamp.from(now.truncatedTo(ChronoUnit.MILLIS));
    int all = 0;
    List<Chosen> some = choose(CHOOSE, app, lane, shortReason, due, new Chosen(due, "", ""), most);
    while (!some.isEmpty()) {
      List<Object[]> rows =
          some.stream().map(Chosen::id).sorted().map(id -> new Object[] {due, id, due}).toList();
      all += IntStream.of(updateAll(rows)).sum();
      some =
          all < most
              ? choose(CHOOSE, app, lane, shortReason, due, some.getLast(), most - all)
              : List.of();
    }
    return all;
  }

  /// Does the same for a provider that takes several neighbouring devices of a message in one
  /// request. The rows become neighbours: the earliest due message goes first, and each following
  /// message is due a millisecond later.
  ///
  /// @param most requests
  /// @param together devices per request
  /// @return for how many requests there were rows
  public int bringNeighboursForward(
      AppId app, String lane, String reason, Instant now, int most, int together) {
    Instant due = now.truncatedTo(ChronoUnit.MILLIS);
    Timestamp latest = Timestamp.from(due);
    Requests requests = new Requests(most, together);
    Chosen last = new Chosen(latest, "", "");
    boolean more = true;
    while (more) {
      int devices = (1 + most - requests.begun()) * together;
      List<Chosen> some =
          choose(CHOOSE_WITH_MESSAGE, app, lane, shortened(reason), latest, last, devices);
      List<Chosen> taken =
          new ArrayList<>(some.stream().takeWhile(one -> requests.add(one.message())).toList());
      if (!taken.isEmpty()) {
        last = taken.getLast();
      }
      taken.sort(Comparator.comparing(Chosen::id));
      List<Object[]> rows = new ArrayList<>();
      for (Chosen one : taken) {
        Instant itsDue = due.minusMillis(most - requests.number(one.message()));
        rows.add(new Object[] {Timestamp.from(itsDue), one.id(), latest});
      }
      int[] updated = updateAll(rows);
      boolean allOurs = true;
      for (int i = 0; i < updated.length; i++) {
        if (updated[i] == 0) {
          // Another worker had chosen the same row, and locked it first.
          requests.remove(taken.get(i).message());
          allOurs = false;
        }
      }
      boolean full = taken.size() < some.size();
      more = !some.isEmpty() && !(full && allOurs);
    }
    return requests.begun();
  }

  /// Does the same for all rows of an app, in the order in which their messages were accepted: each
  /// row becomes due as of its message's acceptance, to the millisecond.
  ///
  /// @return how many rows
  public int bringForwardInOrder(AppId app, String lane, String reason, Instant now) {
    Instant latest = now.truncatedTo(ChronoUnit.MILLIS);
    Timestamp due = Timestamp.from(latest);
    Chosen last = new Chosen(due, "", "");
    int all = 0;
    List<Chosen> some;
    do {
      some = choose(CHOOSE_WITH_MESSAGE, app, lane, shortened(reason), due, last, AT_ONCE);
      if (!some.isEmpty()) {
        last = some.getLast();
      }
      List<Object[]> rows =
          some.stream()
              .sorted(Comparator.comparing(Chosen::id))
              .map(one -> new Object[] {acceptedAt(one, latest), one.id(), due})
              .toList();
      all += IntStream.of(updateAll(rows)).sum();
    } while (!some.isEmpty());
    return all;
  }

  /// @param latest for a message from a dispatcher whose clock is ahead
  private static Timestamp acceptedAt(Chosen row, Instant latest) {
    Instant accepted = new MessageId(row.message()).time();
    return Timestamp.from(accepted.isBefore(latest) ? accepted : latest);
  }

  /// The apps that have rows in this lane for this reason. Costs two looks into the index for each
  /// app that has rows in the lane.
  public List<AppId> waiting(String lane, String reason) {
    List<AppId> apps = new ArrayList<>();
    for (String app = after("", lane); app != null; app = after(app, lane)) {
      if (Boolean.TRUE.equals(
          database.queryForObject(WAITS, Boolean.class, lane, app, shortened(reason)))) {
        apps.add(new AppId(app));
      }
    }
    return apps;
  }

  private @Nullable String after(String app, String lane) {
    return database.queryForObject(NEXT_APP, String.class, lane, app);
  }

  /// When the last of an app's rows in this lane with this reason is due; empty when there are
  /// none. Costs one look into the index.
  public Optional<Instant> lastDue(AppId app, String lane, String reason) {
    return Optional.ofNullable(
            database.queryForObject(
                LAST_DUE, Timestamp.class, lane, app.value(), shortened(reason)))
        .map(Timestamp::toInstant);
  }

  /// A row's place in `later_by_reason`.
  ///
  /// @param message empty when it was not asked for
  private record Chosen(Timestamp due, String id, String message) {}

  private List<Chosen> choose(
      String statement,
      AppId app,
      String lane,
      String reason,
      Timestamp due,
      Chosen after,
      int most) {
    return database.query(
        statement,
        (row, _) ->
            new Chosen(
                row.getTimestamp("due_at"), row.getString("id"), row.getString("message_id")),
        lane,
        app.value(),
        reason,
        due,
        after.due(),
        after.due(),
        after.id(),
        Math.min(AT_ONCE, most));
  }

  /// @return for each row whether it was there still (1) or due already (0)
  private int[] updateAll(List<Object[]> rows) {
    if (rows.isEmpty()) {
      return new int[0];
    }
    int[] updated =
        Deadlocks.retrying(() ->
            transactions.execute(_ ->
                database.batchUpdate(
                    "UPDATE later SET due_at = ? WHERE id = ? AND due_at > ?", rows)));
    return Objects.requireNonNull(updated);
  }

  private static String shortened(String reason) {
    return Attempt.shortened(reason, LONGEST_REASON);
  }
}
