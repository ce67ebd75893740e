package io.pushplanet.gateway.statistics;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/// Deletes changes that every process has read long ago, by MySQL's clock; but never the newest
/// one, by which a [ChangeFeed] notices that MySQL has lost some. One worker at a time;
/// thread-safe.
final class ChangeRetention {
  /// No process goes on without MySQL for so long.
  static final Duration KEPT = Duration.ofDays(7);

  /// Rows per statement.
  static final int MAX_ROWS = 1_000;

  static final String DELETE =
      "DELETE FROM changes WHERE at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND AND id <> ? ORDER BY at LIMIT ?";

  private final Leader leader;

  ChangeRetention(DataSource database) {
    this.leader = new Leader(database, "change-retention");
  }

  /// Deletes one portion.
  ///
  /// @return whether there may be more
  boolean trim() {
    return leader.lead(
        false,
        connection -> {
          try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
            delete.setLong(1, KEPT.toSeconds());
            delete.setLong(2, newest(connection));
            delete.setInt(3, MAX_ROWS);
            return delete.executeUpdate() == MAX_ROWS;
          }
        });
  }

  /// Not within the deletion, which would lock out new changes.
  private static long newest(Connection connection) throws SQLException {
    try (Statement select = connection.createStatement();
        ResultSet row = select.executeQuery("SELECT COALESCE(MAX(id), 0) FROM changes")) {
      row.next();
      return row.getLong(1);
    }
  }
}
