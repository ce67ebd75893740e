package io.pushplanet.quickstart.services;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/// The contract of every kind of local services. Each test starts its own services, so it runs
/// beside others.
@Execution(ExecutionMode.CONCURRENT)
abstract class LocalServicesContract {
  // Many programs fail on blanks in a path.
  private final Path state =
      Path.of("target", "contract of " + choice().text() + " " + UUID.randomUUID())
          .toAbsolutePath();

  private LocalServices services;

  abstract ServicesChoice choice();

  @BeforeEach
  void start() {
    services = LocalServices.start(choice(), state);
  }

  @AfterEach
  void stop() throws Exception {
    services.kill();
    DirectoryTree.delete(state);
  }

  @Test
  void a_confirmed_message_and_a_committed_row_survive_kill_9_of_each_service() throws Exception {
    try (Connection connection = connect();
        var channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.queueDeclare("survivors", true, false, false, null);
      channel.basicPublish(
          "",
          "survivors",
          MessageProperties.PERSISTENT_BASIC,
          "alive".getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(60_000);
    }
    if (services.isRabbitMq()) {
      // RabbitMQ 3 answers a declaration before it is on disk, where it arrives within two seconds;
      // its confirm does not wait for that
      // (https://www.erlang.org/doc/apps/mnesia/mnesia.html#sync_log/0).
      services.rabbitmqctl("eval", "mnesia:sync_log().");
    }
    execute("CREATE TABLE survivors (name VARCHAR(10)) ");
    execute("INSERT INTO survivors VALUES ('alive')");

    for (Service service : Service.values()) {
      services.kill9(service);
      assertThat(services.isRunning(service)).isFalse();
      services.restart(service);
    }

    try (Connection connection = connect();
        var channel = connection.createChannel()) {
      var message = channel.basicGet("survivors", true);
      assertThat(message).isNotNull();
      assertThat(message.getBody()).asString(StandardCharsets.UTF_8).isEqualTo("alive");
    }
    assertThat(select("SELECT name FROM survivors")).isEqualTo("alive");
  }

  @Test
  void a_clean_stop_and_a_second_start_find_the_data_again() throws Exception {
    execute("CREATE TABLE kept (name VARCHAR(10))");
    execute("INSERT INTO kept VALUES ('kept')");

    assertThat(services.dataOfOthers(Service.MYSQL)).isEmpty();
    services.close();
    String other = choice() == ServicesChoice.EMBEDDED ? "installed-mysql" : "embedded-mysql";
    Path others = Files.createDirectory(state.resolve(other));
    services = LocalServices.start(choice(), state);

    assertThat(select("SELECT name FROM kept")).isEqualTo("kept");
    assertThat(services.dataOfOthers(Service.MYSQL)).contains(others);
  }

  @Test
  void mysql_is_strict_in_utc_and_has_the_schema() throws Exception {
    assertThat(select("SELECT @@session.time_zone")).isIn("+00:00", "UTC");
    assertThat(select("SELECT @@character_set_database")).isEqualTo("utf8mb4");
    assertThat(select("SELECT @@sql_mode")).contains("STRICT");
    assertThat(select("SELECT COUNT(*) FROM devices")).isEqualTo("0");
  }

  @Test
  void a_start_of_mysql_leaves_the_temporary_tables_of_other_servers_alone() throws Exception {
    Path others =
        Files.createFile(Path.of("/tmp", "#sql-temptable-" + UUID.randomUUID() + "-5-8.MAI"));
    try {
      services.kill9(Service.MYSQL);
      services.restart(Service.MYSQL);

      assertThat(others).exists();
    } finally {
      Files.deleteIfExists(others);
    }
  }

  private Connection connect() throws Exception {
    var factory = new ConnectionFactory();
    factory.setUri(services.amqp());
    return factory.newConnection();
  }

  private void execute(String sql) throws Exception {
    try (var connection = connection();
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private String select(String sql) throws Exception {
    try (var connection = connection();
        var statement = connection.createStatement();
        var rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  private java.sql.Connection connection() throws Exception {
    MySqlAddress mysql = services.mysql();
    return DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password());
  }
}
