package io.pushplanet.gateway.statistics;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/// Work that only one worker of a platform does at a time: the one that holds MySQL's lock of that
/// name (`GET_LOCK`), which ends with its session. Lock names are global to a server, so the
/// schema's name is part of them. Thread-safe.
final class Leader {
  /// At most 64 characters, which the schema's name alone may have
  /// (https://dev.mysql.com/doc/refman/8.4/en/locking-functions.html#function_get-lock).
  private static final String NAME = "CONCAT(?, '.', LEFT(SHA2(DATABASE(), 256), 32))";

  private final JdbcTemplate database;
  private final String name;

  /// @param name of the work, at most 20 characters
  Leader(DataSource database, String name) {
    this.database = new JdbcTemplate(database);
    this.name = "pushplanet." + name;
  }

  /// Does the work now, on the connection that holds the lock.
  ///
  /// @return the work's result, or `otherwise` when another worker is doing it
  /// @throws org.springframework.dao.DataAccessException when the database is away
  <T> T lead(T otherwise, ConnectionCallback<T> work) {
    return Objects.requireNonNull(
        database.execute(
            (ConnectionCallback<T>)
                connection -> {
                  if (ask(connection, "SELECT GET_LOCK(" + NAME + ", 0)") != 1) {
                    return otherwise;
                  }
                  try {
                    return work.doInConnection(connection);
                  } finally {
                    ask(connection, "SELECT RELEASE_LOCK(" + NAME + ")");
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
