package io.pushplanet.gateway.later;

import io.pushplanet.common.wire.BrokerUnavailable;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Brings what is due from the table `later` back to its lanes. Several workers may run it: each claims rows that no other
/// has locked. A row is deleted only after the broker confirmed its push, in the transaction that claimed it; a crash in
/// between repeats it. A lane that the broker refuses, because it is full or gone, holds up no other. Thread-safe.
public final class DueLane {
  /// Rows per claim.
  public static final int MOST_ROWS = 500;

  static final String CLAIM =
      """
      SELECT id, lane, pushes FROM later WHERE due_at <= ? AND FIND_IN_SET(lane, ?) = 0
      ORDER BY due_at, id LIMIT ? FOR UPDATE SKIP LOCKED
      """;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final Lanes lanes;
  private final Clock clock;

  /// Where rows go.
  @FunctionalInterface
  public interface Lanes {
    /// @throws BrokerUnavailable when an item may not have been taken
    void publishAndWait(String lane, List<byte[]> items);
  }

  public DueLane(DataSource database, Lanes lanes, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.transactions = new TransactionTemplate(new JdbcTransactionManager(database));
    // No gap locks: nobody who inserts a row waits for a claim.
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.lanes = lanes;
    this.clock = clock;
  }

  private record Row(String id, String lane, String pushes) {}

  /// Claims once; where a lane refuses what it gets, as often as there is something for the others.
  ///
  /// @return how many rows were brought back; at [#MOST_ROWS] there may be more
  /// @throws RuntimeException when the database is away, or the broker or a lane of it: nothing is lost, call again
  public int bringBack() {
    SequencedMap<String, BrokerUnavailable> refused = new LinkedHashMap<>();
    List<Row> claimed = claim(refused);
    int brought = claimed.size();
    while (!refused.isEmpty() && claimed.size() == MOST_ROWS) {
      claimed = claim(refused);
    }
    if (!refused.isEmpty()) {
      throw refused.sequencedValues().getFirst();
    }
    return brought;
  }

  /// @param refused the lanes to pass over, and those that refuse now
  private List<Row> claim(SequencedMap<String, BrokerUnavailable> refused) {
    List<Row> claimed = transactions.execute(_ -> claimInTransaction(refused));
    return claimed == null ? List.of() : claimed;
  }

  private List<Row> claimInTransaction(SequencedMap<String, BrokerUnavailable> refused) {
    List<Row> rows =
        database.query(
            CLAIM,
            (row, number) ->
                new Row(row.getString("id"), row.getString("lane"), row.getString("pushes")),
            Timestamp.from(clock.instant()),
            String.join(",", refused.keySet()),
            MOST_ROWS);
    Map<String, List<Row>> byLane = new LinkedHashMap<>();
    rows.forEach(row -> byLane.computeIfAbsent(row.lane(), _ -> new ArrayList<>()).add(row));
    List<Object[]> taken = new ArrayList<>();
    byLane.forEach((lane, some) -> {
      try {
        lanes.publishAndWait(lane, some.stream().map(DueLane::item).toList());
        some.forEach(row -> taken.add(new Object[] {row.id()}));
      } catch (BrokerUnavailable e) {
        refused.put(lane, e);
      }
    });
    database.batchUpdate("DELETE FROM later WHERE id = ?", taken);
    return rows;
  }

  /// A stored batch without its brackets is what a lane joins.
  private static byte[] item(Row row) {
    String pushes = row.pushes();
    return pushes.substring(1, pushes.length() - 1).getBytes(StandardCharsets.UTF_8);
  }
}
