package io.pushplanet.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.quickstart.services.LocalServices;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;

class DataSourceIT {
  private final AnnotationConfigApplicationContext context = platform();
  private final HikariDataSource database = context.getBean(HikariDataSource.class);

  @AfterEach
  void close() {
    context.close();
  }

  @Test
  void the_server_soon_ends_only_the_sessions_of_vanished_hosts() {
    Duration silence = variable("wait_timeout");

    assertThat(silence).isLessThanOrEqualTo(Duration.ofMinutes(1));
    assertThat(Duration.ofMillis(database.getKeepaliveTime()))
        .isPositive()
        .isLessThanOrEqualTo(silence.dividedBy(2));
  }

  @Test
  void a_lock_wait_ends_before_the_driver_gives_the_connection_up() {
    Object socketTimeout = database.getDataSourceProperties().get("socketTimeout");

    assertThat(variable("innodb_lock_wait_timeout"))
        .isLessThan(Duration.ofMillis(Long.parseLong(String.valueOf(socketTimeout))));
  }

  @Test
  void the_driver_asks_nothing_before_a_write() throws SQLException {
    try (Connection connection = database.getConnection();
        Statement sql = connection.createStatement()) {
      sql.execute("CREATE TEMPORARY TABLE written (number INT)");
      try (PreparedStatement write =
          connection.prepareStatement("INSERT INTO written VALUES (?)")) {
        long before = selects(sql);
        write.setInt(1, 1);
        write.execute();
        write.setInt(1, 2);
        write.addBatch();
        write.setInt(1, 3);
        write.addBatch();
        write.executeBatch();

        assertThat(selects(sql)).isEqualTo(before);
      }
    }
  }

  /// How many queries the session has made.
  private static long selects(Statement sql) throws SQLException {
    try (ResultSet status = sql.executeQuery("SHOW SESSION STATUS LIKE 'Com_select'")) {
      status.next();
      return status.getLong(2);
    }
  }

  private Duration variable(String name) {
    return Duration.ofSeconds(
        new JdbcTemplate(database).queryForObject("SELECT @@SESSION." + name, Long.class));
  }

  private static AnnotationConfigApplicationContext platform() {
    LocalServices services = LocalServices.forTests();
    Map<String, Object> settings =
        Map.of(
            "pushplanet.master-key",
            MasterKey.generate(new SecureRandom()),
            "pushplanet.mysql.url",
            services.mysql().jdbcUrl(),
            "pushplanet.mysql.user",
            services.mysql().user(),
            "pushplanet.mysql.password",
            services.mysql().password());
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", settings));
    context.register(PlatformConfiguration.class);
    context.refresh();
    return context;
  }
}
