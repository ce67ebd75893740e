package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.migrations.Migrations;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MigrationsIT {
  private static final String TABLE_HELD = "Waiting for table metadata lock";

  private final MySqlAddress mysql = LocalServices.forTests().mysql();
  private final String url = mysql.jdbcUrl().replaceFirst("(://[^/]+/)[^?]*", "$1migrations_it");

  /// The first missing migration adds an index to `inbox`.
  @BeforeEach
  void the_last_migrations_are_missing() throws Exception {
    try (Connection connection =
        DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password())) {
      execute(connection, "DROP DATABASE IF EXISTS migrations_it");
      execute(connection, "CREATE DATABASE migrations_it");
    }
    Flyway.configure()
        .dataSource(url, mysql.user(), mysql.password())
        .target("15")
        .load()
        .migrate();
  }

  @Test
  void a_table_is_changed_after_a_long_transaction_and_readable_meanwhile() throws Exception {
    try (var others = Executors.newVirtualThreadPerTaskExecutor();
        Connection reader = connection();
        Connection backup = connection()) {
      backup.setAutoCommit(false);
      count(backup, "inbox");

      Future<Integer> migration = others.submit(this::migrate);
      Eventually.within(
          Duration.ofSeconds(30), () -> assertThat(waiting(backup)).as("migrations").isOne());
      assertThat(others.submit(() -> count(reader, "inbox")).get(30, TimeUnit.SECONDS)).isZero();
      assertThat(migration).isNotDone();
      backup.commit();

      assertThat(migration.get(60, TimeUnit.SECONDS)).isPositive();
    }
  }

  @Test
  void a_failed_migration_is_applied_after_a_repair() throws Exception {
    try (Connection connection = connection()) {
      execute(connection, "CREATE INDEX inbox_by_message ON inbox (message_id)");
      assertThatThrownBy(this::migrate).isInstanceOf(FlywayException.class);
      execute(connection, "DROP INDEX inbox_by_message ON inbox");
      assertThatThrownBy(this::migrate).hasMessageContaining("repair");
    }

    assertThat(Migrations.repair(url, mysql.user(), mysql.password())).isNotEmpty();

    assertThat(migrate()).isPositive();
  }

  @Test
  void each_table_is_named_in_the_readme() throws Exception {
    migrate();
    List<String> tables = new ArrayList<>();
    try (Connection connection = connection();
        ResultSet names =
            connection
                .getMetaData()
                .getTables("migrations_it", null, "%", new String[] {"TABLE"})) {
      while (names.next()) {
        tables.add("`" + names.getString("TABLE_NAME") + "`");
      }
    }

    assertThat(tables).hasSizeGreaterThan(20);
    assertThat(Files.readString(Path.of("../db-migrations/README.md"))).contains(tables);
  }

  @Test
  void the_program_takes_the_database_from_the_environment() throws Exception {
    Map<String, String> database =
        Map.of(
            "PUSHPLANET_MYSQL_URL", url,
            "PUSHPLANET_MYSQL_USER", mysql.user(),
            "PUSHPLANET_MYSQL_PASSWORD", mysql.password());

    assertThat(program(database, "repair"))
        .contains("repaired: ", "migrations applied: ", "exit 0");
    assertThat(program(database)).contains("migrations applied: 0", "exit 0");
    assertThat(program(database, url, mysql.user(), mysql.password())).contains("usage", "exit 2");
  }

  @Test
  void the_program_names_the_variable_that_is_missing() throws Exception {
    assertThat(program(Map.of("PUSHPLANET_MYSQL_URL", url, "PUSHPLANET_MYSQL_USER", mysql.user())))
        .contains("PUSHPLANET_MYSQL_PASSWORD is missing", "exit 2")
        .doesNotContain("PUSHPLANET_MYSQL_URL is missing");
  }

  /// What the program prints, and how it ends.
  private static String program(Map<String, String> database, String... arguments)
      throws Exception {
    var command =
        new ArrayList<>(
            List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Migrations.class.getName()));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeIf(variable -> variable.startsWith("PUSHPLANET_MYSQL_"));
    builder.environment().putAll(database);
    Process process = builder.start();
    try {
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return printed + "exit " + process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }

  private int migrate() {
    return Migrations.migrate(url, mysql.user(), mysql.password());
  }

  private Connection connection() throws SQLException {
    return DriverManager.getConnection(url, mysql.user(), mysql.password());
  }

  private static int waiting(Connection connection) throws SQLException {
    return count(
        connection,
        "information_schema.processlist WHERE db = 'migrations_it' AND state = '%s'"
            .formatted(TABLE_HELD));
  }

  private static int count(Connection connection, String from) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM " + from)) {
      row.next();
      return row.getInt(1);
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
