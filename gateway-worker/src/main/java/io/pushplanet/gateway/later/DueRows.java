package io.pushplanet.gateway.later;

import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.gateway.database.Deadlocks;
import io.pushplanet.gateway.database.Transactions;
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
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/// Brings due rows from the table `later` back to their lanes. Several workers may run it: each
/// claims rows that no other has locked. The transaction that claims and deletes a row is committed
/// only after the broker has confirmed its push; after a crash in between, the push is published
/// again. Each lane is claimed separately: a lane with very many rows delays no other, and a lane
/// that the broker refuses, because it is full or gone, is left alone. Thread-safe.
public final class DueRows {
  /// Rows per claim.
  public static final int MAX_ROWS = 500;

  /// One descent into the index, however many rows other lanes have.
  static final String NEXT_LANE = "SELECT MIN(lane) FROM later WHERE lane > ?";

  /// The index is forced. Left to choose, MariaDB reads the due rows of all lanes when it expects
  /// no more of them.
  static final String CLAIM =
      """
      SELECT id, pushes FROM later FORCE INDEX (later_by_lane) WHERE lane = ? AND due_at <= ?
      ORDER BY due_at, id LIMIT ? FOR UPDATE SKIP LOCKED
      """;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final Publisher publisher;
  private final Clock clock;

  /// Publishes rows to their lanes.
  @FunctionalInterface
  public interface Publisher {
    /// @throws BrokerUnavailable when the broker may not have taken an item
    void publishAndWait(String lane, List<byte[]> items);
  }

  public DueRows(DataSource database, Publisher publisher, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
    this.publisher = publisher;
    this.clock = clock;
  }

  private record Row(String id, String pushes) {}

  /// Claims rows of each lane. When some lanes refuse their rows, all other lanes are emptied,
  /// because the caller pauses before the next call.
  ///
  /// @return how many rows were brought back; from [#MAX_ROWS] on there may be more
  /// @throws RuntimeException when the database or the broker is away, or a lane refuses its rows:
  ///     nothing is lost, call again
  public int bringBack() {
    SequencedMap<String, BrokerUnavailable> refused = new LinkedHashMap<>();
    int brought = 0;
    boolean more;
    do {
      more = false;
      for (String lane = after(""); lane != null; lane = after(lane)) {
        int claimed = refused.containsKey(lane) ? 0 : bringBack(lane, refused);
        brought += claimed;
        more |= claimed == MAX_ROWS;
      }
    } while (more && !refused.isEmpty());
    if (!refused.isEmpty()) {
      throw refused.sequencedValues().getFirst();
    }
    return brought;
  }

  /// The next lane that has rows, due or not.
  private @Nullable String after(String lane) {
    return database.queryForObject(NEXT_LANE, String.class, lane);
  }

  /// @param refused gets the lane when it refuses its rows
  /// @return how many rows the lane took
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
            MAX_ROWS);
    if (rows.isEmpty()) {
      return 0;
    }
    // Before they are published: the deletion takes the last locks, and a transaction that waits
    // for no lock is never rolled back because of a deadlock.
    database.batchUpdate(
        "DELETE FROM later WHERE id = ?",
        rows.stream().map(row -> new Object[] {row.id()}).toList());
    try {
      publisher.publishAndWait(lane, rows.stream().map(DueRows::item).toList());
    } catch (BrokerUnavailable e) {
      claim.setRollbackOnly();
      refused.put(lane, e);
      return 0;
    }
    return rows.size();
  }

  /// Lanes join their items, so an item is a stored batch without its brackets.
  private static byte[] item(Row row) {
    String pushes = row.pushes();
    return pushes.substring(1, pushes.length() - 1).getBytes(StandardCharsets.UTF_8);
  }
}
