package io.pushplanet.gateway.later;

import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.inbox.Deadlocks;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// The table `later`. Thread-safe; what [#keep] has returned from is durable.
public final class LaterStore {
  private static final String INSERT =
      """
      INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE due_at = due_at
      """;
  private static final String CHOOSE =
      """
      SELECT message_id, id FROM later FORCE INDEX (later_by_message)
      WHERE app_id = ? AND (message_id > ? OR (message_id = ? AND id > ?))
      AND due_at > ? AND lane IN (%s) AND reason IN (%s) ORDER BY message_id, id LIMIT %d
      """;
  private static final int LONGEST_REASON = 128;
  private static final int AT_ONCE = 500;

  /// Each row has a message of its own, which hundreds of pushes share until then: all rows of a large one would fill a small heap.
  static final int CHARACTERS_AT_ONCE = 4 * 1024 * 1024;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;

  public LaterStore(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = new TransactionTemplate(new JdbcTransactionManager(database));
    // No gap locks: nobody who inserts a row waits for rows to be brought forward.
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
  }

  /// @throws org.springframework.dao.DataAccessException when the rows may not be there: do not acknowledge then
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

  /// Makes what waits in these lanes for one of these reasons due now, some at a time, each time from where it was: what an app has
  /// waiting for something else may be more. Rows are chosen without locks and locked by their primary key alone, in its order: whoever
  /// claims or cancels them meanwhile is waited for, never in a circle.
  ///
  /// @return how many
  public int bringForward(
      AppId app, Collection<String> lanes, Collection<String> reasons, Instant now) {
    // As the column has it.
    Timestamp due = Timestamp.from(now.truncatedTo(ChronoUnit.MILLIS));
    int all = 0;
    Chosen from = new Chosen("", "");
    List<Chosen> some;
    do {
      some = choose(app, lanes, reasons, due, from);
      List<Object[]> rows =
          some.stream().map(Chosen::id).sorted().map(id -> new Object[] {due, id, due}).toList();
      Integer updated = Deadlocks.retrying(() -> transactions.execute(_ -> update(rows)));
      all += updated == null ? 0 : updated;
      from = some.isEmpty() ? from : some.getLast();
    } while (some.size() == AT_ONCE);
    return all;
  }

  /// A row's place in `later_by_message`, which it keeps when it is brought forward.
  private record Chosen(String message, String id) {}

  private List<Chosen> choose(
      AppId app,
      Collection<String> lanes,
      Collection<String> reasons,
      Timestamp due,
      Chosen after) {
    List<Object> values =
        new ArrayList<>(List.of(app.value(), after.message(), after.message(), after.id(), due));
    values.addAll(lanes);
    reasons.forEach(reason -> values.add(shortened(reason)));
    return database.query(
        CHOOSE.formatted(marks(lanes), marks(reasons), AT_ONCE),
        (row, _) -> new Chosen(row.getString("message_id"), row.getString("id")),
        values.toArray());
  }

  private int update(List<Object[]> rows) {
    return IntStream.of(
            database.batchUpdate("UPDATE later SET due_at = ? WHERE id = ? AND due_at > ?", rows))
        .sum();
  }

  private static String marks(Collection<String> values) {
    return String.join(", ", Collections.nCopies(values.size(), "?"));
  }

  private static String shortened(String reason) {
    return reason.length() <= LONGEST_REASON ? reason : reason.substring(0, LONGEST_REASON);
  }
}
