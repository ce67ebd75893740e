package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.services.MySqlAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/// The logins of the dashboard.
final class Operators {
  private Operators() {}

  static boolean exist(MySqlAddress mysql) {
    try (Connection connection =
            DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password());
        Statement statement = connection.createStatement();
        ResultSet first = statement.executeQuery("SELECT 1 FROM operators LIMIT 1")) {
      return first.next();
    } catch (SQLException e) {
      throw new IllegalStateException(
          "the operators cannot be read in " + mysql + ": " + e.getMessage(), e);
    }
  }
}
