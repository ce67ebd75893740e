package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// A token belongs to one device, even when several register it at the same time.
class TokenOwnerIT {
  private static final String REGISTRATION =
      "{\"platform\":\"android\",\"channels\":{\"fcm\":{\"token\":\"shared\"}}}";
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /// No more than there are connections to MySQL.
  private static final int AT_ONCE = 8;

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void the_later_of_two_devices_that_register_one_token_keeps_it() throws Exception {
    try (Connection connection = dispatcher.connection();
        var callers = Executors.newSingleThreadExecutor()) {
      JdbcTemplate other = begun(connection);
      register(other, "earlier");

      Future<Answer> later = callers.submit(() -> shop.put("/devices/later", REGISTRATION));
      Eventually.within(
          PATIENCE, () -> assertThat(later.isDone() || dispatcher.transactionWaits()).isTrue());
      connection.commit();

      assertThat(later.get(20, TimeUnit.SECONDS).status()).isEqualTo(201);
    }
    assertThat(owners()).containsExactly("later");
  }

  @Test
  void a_device_that_refreshes_its_token_while_another_takes_it_keeps_it() throws Exception {
    assertThat(shop.put("/devices/later", REGISTRATION).status()).isEqualTo(201);
    try (Connection connection = dispatcher.connection();
        var callers = Executors.newSingleThreadExecutor()) {
      JdbcTemplate other = begun(connection);
      register(other, "earlier");
      other.update(
          "DELETE FROM channel_tokens WHERE app_id = ? AND device_id = 'later'", shop.app());

      Future<Answer> later = callers.submit(() -> shop.put("/devices/later", REGISTRATION));
      Eventually.within(
          PATIENCE, () -> assertThat(later.isDone() || dispatcher.transactionWaits()).isTrue());
      connection.commit();

      assertThat(later.get(20, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
    assertThat(owners()).containsExactly("later");
  }

  /// SDKs print the token of an iPhone in upper or lower case.
  @Test
  void a_token_of_apns_is_the_same_in_capital_letters() {
    String registration = "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"%s\"}}}";
    shop.put("/devices/former", registration.formatted("ABCDEF0123456789"));

    Answer later = shop.put("/devices/later", registration.formatted("abcdef0123456789"));

    assertThat(later.status()).as(later.toString()).isEqualTo(201);
    assertThat(shop.get("/devices/former").json().at("/channels/apns").isObject()).isFalse();
    assertThat(shop.get("/devices/later").json().at("/channels/apns/token").stringValue())
        .isEqualTo("abcdef0123456789");
  }

  @Test
  void an_apns_token_in_capitals_of_an_older_version_is_taken_over() throws Exception {
    String registration = "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"%s\"}}}";
    shop.put("/devices/former", registration.formatted("abcdef0123456789"));
    try (Connection connection = dispatcher.connection();
        Statement older = connection.createStatement()) {
      older.executeUpdate(
          "UPDATE channel_tokens SET token = UPPER(token) WHERE app_id = '" + shop.app() + "'");
    }

    Answer later = shop.put("/devices/later", registration.formatted("ABCDEF0123456789"));

    assertThat(later.status()).as(later.toString()).isEqualTo(201);
    assertThat(shop.get("/devices/former").json().at("/channels/apns").isObject()).isFalse();
  }

  @Test
  void only_one_of_several_devices_keeps_a_token_registered_at_once() throws Exception {
    List<Callable<Integer>> registrations =
        IntStream.range(0, AT_ONCE)
            .<Callable<Integer>>mapToObj(
                i -> () -> shop.put("/devices/d" + i, REGISTRATION).status())
            .toList();

    for (int round = 0; round < 10; round++) {
      try (var callers = Executors.newFixedThreadPool(registrations.size())) {
        for (Future<Integer> answer : callers.invokeAll(registrations)) {
          assertThat(answer.get()).isBetween(200, 201);
        }
      }
      assertThat(owners()).hasSize(1);
    }
  }

  /// It is unknown whether the change was committed, and a repeat would find no former owner.
  @Test
  void a_registration_that_ends_badly_forgets_the_route_all_the_same() throws Exception {
    assertThat(shop.put("/devices/d1", REGISTRATION).status()).isEqualTo(201);
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    String route = "route:" + shop.app() + "/d1";
    try (Connection connection = dispatcher.connection()) {
      begun(connection)
          .queryForList(
              "SELECT device_id FROM devices WHERE app_id = ? AND device_id = 'd1' FOR UPDATE",
              shop.app());
      redis.ask(commands -> commands.set(route, "stale"));

      assertThat(shop.put("/devices/d1", REGISTRATION).status()).isEqualTo(503);

      String left = redis.ask(commands -> commands.get(route));
      assertThat(left).isNotEqualTo("stale");
      connection.rollback();
    }
  }

  /// If the dispatcher were killed after the commit, it would delete nothing in Redis.
  @Test
  void the_route_of_a_former_owner_is_forgotten_before_the_commit() throws Exception {
    assertThat(shop.put("/devices/former", REGISTRATION).status()).isEqualTo(201);
    RedisLink redis = dispatcher.context.getBean(RedisLink.class);
    String route = "route:" + shop.app() + "/former";
    redis.ask(commands -> commands.set(route, "stale"));
    try (Connection connection = dispatcher.connection();
        Statement backup = connection.createStatement();
        var callers = Executors.newSingleThreadExecutor()) {
      // https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/backup-commands/backup-stage
      for (String stage : List.of("START", "FLUSH", "BLOCK_DDL", "BLOCK_COMMIT")) {
        backup.execute("BACKUP STAGE " + stage);
      }
      Future<Answer> later;
      try {
        later = callers.submit(() -> shop.put("/devices/later", REGISTRATION));
        Eventually.within(
            PATIENCE,
            () -> {
              String left = redis.ask(commands -> commands.get(route));
              assertThat(left).isNotEqualTo("stale");
            });
        assertThat(later).isNotDone();
      } finally {
        backup.execute("BACKUP STAGE END");
      }
      assertThat(later.get(20, TimeUnit.SECONDS).status()).isEqualTo(201);
    }
    assertThat(owners()).containsExactly("later");
  }

  private static JdbcTemplate begun(Connection connection) throws Exception {
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    return new JdbcTemplate(new SingleConnectionDataSource(connection, true));
  }

  /// Does the first part of a registration by another process.
  private void register(JdbcTemplate sql, String device) {
    sql.update(
        "INSERT INTO channel_tokens (app_id, device_id, channel, token, kind, environment, registered_at)"
            + " VALUES (?, ?, 'fcm', 'shared', 'token', 'production', NOW(3))",
        shop.app(),
        device);
  }

  private List<String> owners() throws Exception {
    try (Connection connection = dispatcher.connection()) {
      return new JdbcTemplate(new SingleConnectionDataSource(connection, true))
          .queryForList(
              "SELECT device_id FROM channel_tokens WHERE app_id = ? AND token = 'shared'",
              String.class,
              shop.app());
    }
  }
}
