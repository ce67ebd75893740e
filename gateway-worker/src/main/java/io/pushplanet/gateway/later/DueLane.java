package io.pushplanet.gateway.later;

import io.pushplanet.common.wire.LanePublisher;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Brings what is due from the table `later` back to its lanes. Several workers may run it: each claims rows that no other
/// has locked. A row is deleted only after the broker confirmed its push, in the transaction that claimed it; a crash in
/// between repeats it. Thread-safe.
public final class DueLane {
  /// Rows per claim.
  public static final int MOST_ROWS = 500;

  static final String CLAIM =
      """
      SELECT id, lane, pushes FROM later WHERE due_at <= ? ORDER BY due_at, id LIMIT ? FOR UPDATE SKIP LOCKED
      """;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final LanePublisher lanes;
  private final Clock clock;

  public DueLane(DataSource database, LanePublisher lanes, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.transactions = new TransactionTemplate(new JdbcTransactionManager(database));
    // No gap locks: nobody who inserts a row waits for a claim.
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.lanes = lanes;
    this.clock = clock;
  }

  private record Row(String id, String lane, String pushes) {}

  /// Claims once.
  ///
  /// @return how many rows were brought back; at [#MOST_ROWS] there may be more
  /// @throws RuntimeException when the database or the broker is away: nothing is lost, call again
  public int bringBack() {
    Integer brought = transactions.execute(status -> bringBackInTransaction());
    return brought == null ? 0 : brought;
  }

  private int bringBackInTransaction() {
    List<Row> rows =
        database.query(
            CLAIM,
            (row, number) ->
                new Row(row.getString("id"), row.getString("lane"), row.getString("pushes")),
            Timestamp.from(clock.instant()),
            MOST_ROWS);
    if (rows.isEmpty()) {
      return 0;
    }
    Map<String, List<byte[]>> byLane = new LinkedHashMap<>();
    for (Row row : rows) {
      byLane.computeIfAbsent(row.lane(), lane -> new ArrayList<>()).add(item(row.pushes()));
    }
    byLane.forEach(lanes::publishAndWait);
    List<Object[]> ids = rows.stream().map(row -> new Object[] {row.id()}).toList();
    database.batchUpdate("DELETE FROM later WHERE id = ?", ids);
    return rows.size();
  }

  /// A stored batch without its brackets is what a lane joins.
  private static byte[] item(String pushes) {
    return pushes.substring(1, pushes.length() - 1).getBytes(StandardCharsets.UTF_8);
  }
}
