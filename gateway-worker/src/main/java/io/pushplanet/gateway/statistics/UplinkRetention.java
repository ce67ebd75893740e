package io.pushplanet.gateway.statistics;

import java.sql.PreparedStatement;
import java.time.Duration;
import javax.sql.DataSource;

/// Deletes uplinks that are older than the retention, read or not. MySQL's clock decides, so that a
/// worker whose clock is ahead deletes nothing too early. One worker at a time; thread-safe.
final class UplinkRetention {
  /// Rows per statement.
  static final int MAX_ROWS = 1_000;

  static final String DELETE =
      "DELETE FROM uplinks WHERE at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND ORDER BY at LIMIT ?";

  private final Leader leader;
  private final Duration retention;

  UplinkRetention(DataSource database, Duration retention) {
    this.leader = new Leader(database, "uplink-retention");
    this.retention = retention;
  }

  /// Deletes one portion.
  ///
  /// @return whether there may be more
  boolean trim() {
    return leader.lead(
        false,
        connection -> {
          try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
            delete.setLong(1, retention.toSeconds());
            delete.setInt(2, MAX_ROWS);
            return delete.executeUpdate() == MAX_ROWS;
          }
        });
  }
}
