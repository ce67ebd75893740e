package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.services.LocalServices;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class TimeIT {
  @Test
  void a_time_comes_back_to_the_millisecond() throws SQLException {
    LocalServices services = LocalServices.forTests();
    Instant at = Instant.parse("2026-11-21T10:00:00.123Z");
    try (Connection connection =
        DriverManager.getConnection(
            services.mysql().jdbcUrl(), services.mysql().user(), services.mysql().password())) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE TEMPORARY TABLE times (at DATETIME(3) NOT NULL)");
      }
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO times VALUES (?)")) {
        insert.setTimestamp(1, Timestamp.from(at));
        insert.executeUpdate();
      }

      try (Statement select = connection.createStatement();
          ResultSet row = select.executeQuery("SELECT at, CAST(at AS CHAR) FROM times")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getTimestamp(1).toInstant()).isEqualTo(at);
        assertThat(row.getString(2)).isEqualTo("2026-11-21 10:00:00.123");
      }
    }
  }
}
