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
  private static final int LONGEST_REASON = 128;
  private static final int AT_ONCE = 500;

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
    List<Object[]> rows =
        waiting.stream()
            .sorted(Later.BY_ID)
            .map(later ->
                new Object[] {
                  later.id().toString(),
                  Timestamp.from(later.dueAt()),
                  later.push().app().value(),
                  later.push().id().value(),
                  later.lane(),
                  shortened(later.reason()),
                  later.pushes()
                })
            .toList();
    Deadlocks.retrying(() -> database.batchUpdate(INSERT, rows));
  }

  /// Makes what waits in these lanes for one of these reasons due now, some at a time. Rows are chosen without locks and locked by
  /// their primary key alone, in its order: whoever claims or cancels them meanwhile is waited for, never in a circle.
  ///
  /// @return how many
  public int bringForward(
      AppId app, Collection<String> lanes, Collection<String> reasons, Instant now) {
    // As the column has it: what MySQL rounds up would be found again and again.
    Timestamp due = Timestamp.from(now.truncatedTo(ChronoUnit.MILLIS));
    String choose =
        "SELECT id FROM later WHERE app_id = ? AND due_at > ? AND lane IN ("
            + marks(lanes)
            + ") AND reason IN ("
            + marks(reasons)
            + ") LIMIT "
            + AT_ONCE;
    List<Object> values = new ArrayList<>(List.of(app.value(), due));
    values.addAll(lanes);
    reasons.forEach(reason -> values.add(shortened(reason)));
    int all = 0;
    List<String> ids;
    do {
      ids = database.query(choose, (row, _) -> row.getString("id"), values.toArray());
      List<Object[]> rows = ids.stream().sorted().map(id -> new Object[] {due, id, due}).toList();
      Integer updated = Deadlocks.retrying(() -> transactions.execute(_ -> update(rows)));
      all += updated == null ? 0 : updated;
    } while (ids.size() == AT_ONCE);
    return all;
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
