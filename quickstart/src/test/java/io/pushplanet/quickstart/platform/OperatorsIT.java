package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.MySqlAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class OperatorsIT {
  private final MySqlAddress mysql = LocalServices.forTests().mysql();

  @Test
  void they_exist_once_one_was_created() throws Exception {
    try (Connection connection =
            DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password());
        Statement statement = connection.createStatement()) {
      assertThat(Operators.exist(mysql)).isFalse();

      statement.execute(
          "INSERT INTO operators (name, password, role, created_at) VALUES ('o', '', 'admin', NOW())");

      assertThat(Operators.exist(mysql)).isTrue();
      statement.execute("DELETE FROM operators");
    }
  }
}
