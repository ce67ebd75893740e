package io.pushplanet.gateway.later;

import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.gateway.inbox.Deadlocks;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/// Brings what is due from the table `later` back to its lanes. Several workers may run it: each claims rows that no other
/// has locked. The transaction that claims and deletes a row is committed only after the broker confirmed its push; a crash in
/// between repeats it. Each lane has claims of its own: one with very many rows delays no other, and one that the broker
/// refuses, because it is full or gone, is left alone. Thread-safe.
public final class DueLane {
  /// Rows per claim.
  public static final int MOST_ROWS = 500;

  /// One dive into the index, however many rows the lanes before have.
  static final String NEXT_LANE = "SELECT MIN(lane) FROM later WHERE lane > ?";

  /// Forced: left to choose, MariaDB reads what is due of all lanes where that seems to be no more.
  static final String CLAIM =
      """
      SELECT id, pushes FROM later FORCE INDEX (later_by_lane) WHERE lane = ? AND due_at <= ?
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

  private record Row(String id, String pushes) {}

  /// Claims once in each lane. Where some lanes refuse what they get, the others are emptied: who calls waits before the next
  /// time.
  ///
  /// @return how many rows were brought back; from [#MOST_ROWS] on there may be more
  /// @throws RuntimeException when the database is away, or the broker or a lane of it: nothing is lost, call again
  public int bringBack() {
    SequencedMap<String, BrokerUnavailable> refused = new LinkedHashMap<>();
    int brought = 0;
    boolean more;
    do {
      more = false;
      for (String lane = after(""); lane != null; lane = after(lane)) {
        int claimed = refused.containsKey(lane) ? 0 : bringBack(lane, refused);
        brought += claimed;
        more |= claimed == MOST_ROWS;
      }
    } while (more && !refused.isEmpty());
    if (!refused.isEmpty()) {
      throw refused.sequencedValues().getFirst();
    }
    return brought;
  }

  /// The next lane that something waits for, due or not.
  private @Nullable String after(String lane) {
    return database.queryForObject(NEXT_LANE, String.class, lane);
  }

  /// @param refused has the lane afterwards if it refuses what is due
  /// @return how many rows it took
  private int bringBack(String lane, Map<String, BrokerUnavailable> refused) {
    Integer taken =
        Deadlocks.retrying(() -> transactions.execute(claim -> bringBack(lane, refused, claim)));
    return taken == null ? 0 : taken;
  }

  private int bringBack(
      String lane, Map<String, BrokerUnavailable> refused, TransactionStatus claim) {
    List<Row> rows =
        database.query(
            CLAIM,
            (row, _) -> new Row(row.getString("id"), row.getString("pushes")),
            lane,
            Timestamp.from(clock.instant()),
            MOST_ROWS);
    if (rows.isEmpty()) {
      return 0;
    }
    // Before they are published: this takes the last of the locks, and who waits for none is never
    // rolled back for a deadlock.
    database.batchUpdate(
        "DELETE FROM later WHERE id = ?",
        rows.stream().map(row -> new Object[] {row.id()}).toList());
    try {
      lanes.publishAndWait(lane, rows.stream().map(DueLane::item).toList());
    } catch (BrokerUnavailable e) {
      claim.setRollbackOnly();
      refused.put(lane, e);
      return 0;
    }
    return rows.size();
  }

  /// A stored batch without its brackets is what a lane joins.
  private static byte[] item(Row row) {
    String pushes = row.pushes();
    return pushes.substring(1, pushes.length() - 1).getBytes(StandardCharsets.UTF_8);
  }
}
