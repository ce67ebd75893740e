package io.pushplanet.gateway.later;

import java.sql.Timestamp;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// The table `later`. Thread-safe; what [#keep] has returned from is durable.
public final class LaterStore {
  private static final String INSERT =
      """
      INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE due_at = due_at
      """;
  private static final int LONGEST_REASON = 128;

  private final JdbcTemplate database;

  public LaterStore(DataSource database) {
    this.database = new JdbcTemplate(database);
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
    database.batchUpdate(INSERT, rows);
  }

  private static String shortened(String reason) {
    return reason.length() <= LONGEST_REASON ? reason : reason.substring(0, LONGEST_REASON);
  }
}
