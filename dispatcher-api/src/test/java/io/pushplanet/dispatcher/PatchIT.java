package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// A patch applies to the latest reports of the device, some of which are only in Redis, and Redis
/// may be slow.
class PatchIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern READS = Pattern.compile("cmdstat_hget:calls=(\\d+)");

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();
  private final RedisLink redis = dispatcher.context.getBean(RedisLink.class);

  @Test
  void redis_is_asked_before_the_row_is_locked() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");

    Answer answer = whileLocked("{\"user\":\"u1\"}", sql -> {});

    assertThat(answer.json().get("user").stringValue()).isEqualTo("u1");
  }

  @Test
  void a_session_update_during_a_patch_is_kept() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");

    Answer answer =
        whileLocked(
            "{\"user\":\"u1\"}",
            sql ->
                assertThat(shop.put("/devices/d1/session", "{\"app_version\":\"2\"}").status())
                    .isEqualTo(204));

    assertThat(answer.json().get("user").stringValue()).isEqualTo("u1");
    assertThat(shop.get("/devices/d1").json().get("app_version").stringValue()).isEqualTo("2");
    Eventually.within(PATIENCE, () -> assertThat(stored("app_version")).isEqualTo("2"));
  }

  @Test
  void a_change_that_was_asked_for_earlier_does_not_make_the_row_older() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");
    String updated = "2100-01-01 00:00:00.000";

    whileLocked(
        "{\"user\":\"u1\"}",
        sql ->
            sql.update(
                "UPDATE devices SET updated_at = ?, seen_at = ? WHERE app_id = ?",
                updated,
                updated,
                shop.app()));

    assertThat(stored("updated_at")).startsWith("2100-01-01");
  }

  /// Earlier versions accepted more, one by one, than a registration may have.
  @Test
  void fields_that_a_patch_does_not_mention_are_not_checked() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");
    for (int topic = 0; topic <= 100; topic++) {
      dispatcher.execute(
          "INSERT INTO device_topics (app_id, topic, device_id) VALUES (?, ?, 'd1')",
          shop.app(),
          "t" + topic);
    }

    Answer answer = shop.call("PATCH", "/devices/d1", "{\"locale\":\"en\"}");

    assertThat(answer.status()).as(answer.toString()).isEqualTo(200);
    assertThat(answer.json().get("topics").size()).isEqualTo(101);
  }

  private interface Work {
    void run(JdbcTemplate sql);
  }

  /// Patches while the row of the device is locked, and runs a step when the patch has asked Redis
  /// and waits for the row.
  private Answer whileLocked(String patch, Work work) throws Exception {
    try (var callers = Executors.newSingleThreadExecutor();
        Connection connection = dispatcher.connection()) {
      JdbcTemplate sql = locked(connection);
      long before = reads();
      Future<Answer> answer = callers.submit(() -> shop.call("PATCH", "/devices/d1", patch));
      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(reads()).isGreaterThan(before);
            assertThat(patchWaits()).isTrue();
          });
      work.run(sql);
      connection.commit();
      Answer patched = answer.get(60, TimeUnit.SECONDS);
      assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
      return patched;
    }
  }

  /// How often a client has read a field of a hash.
  private long reads() {
    Matcher calls = READS.matcher(redis.ask(commands -> commands.info("commandstats")));
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  private boolean patchWaits() throws Exception {
    try (Connection connection = dispatcher.connection()) {
      Long waiting =
          new JdbcTemplate(new SingleConnectionDataSource(connection, true))
              .queryForObject(
                  "SELECT COUNT(*) FROM information_schema.processlist"
                      + " WHERE info LIKE '%FROM devices%FOR UPDATE%' AND info NOT LIKE '%processlist%' AND id <> CONNECTION_ID()",
                  Long.class);
      return waiting != null && waiting > 0;
    }
  }

  private JdbcTemplate locked(Connection connection) throws Exception {
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
    sql.queryForList(
        "SELECT device_id FROM devices WHERE app_id = ? AND device_id = 'd1' FOR UPDATE",
        shop.app());
    return sql;
  }

  private String stored(String column) throws Exception {
    try (Connection connection = dispatcher.connection()) {
      return new JdbcTemplate(new SingleConnectionDataSource(connection, true))
          .queryForList(
              "SELECT " + column + " FROM devices WHERE app_id = ? AND device_id = 'd1'",
              String.class,
              shop.app())
          .getFirst();
    }
  }
}
