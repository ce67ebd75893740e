package io.pushplanet.gateway.statistics;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/// What one worker does at a time: whoever holds MySQL's lock of that name (`GET_LOCK`), which ends with its session. Thread-safe.
final class Leader {
  private final JdbcTemplate database;
  private final String name;

  /// @param name of the work
  Leader(DataSource database, String name) {
    this.database = new JdbcTemplate(database);
    this.name = "pushplanet." + name;
  }

  /// Does the work now, on the connection that holds the lock.
  ///
  /// @return what the work returned; `otherwise` when another worker is at it
  /// @throws org.springframework.dao.DataAccessException when the database is away
  <T> T lead(T otherwise, ConnectionCallback<T> work) {
    return Objects.requireNonNull(
        database.execute(
            (ConnectionCallback<T>)
                connection -> {
                  if (ask(connection, "SELECT GET_LOCK(?, 0)") != 1) {
                    return otherwise;
                  }
                  try {
                    return work.doInConnection(connection);
                  } finally {
                    ask(connection, "SELECT RELEASE_LOCK(?)");
                  }
                }));
  }

  private int ask(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, name);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? row.getInt(1) : 0;
      }
    }
  }
}
