package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// Session updates that were claimed and not written, under their names in Redis.
@ExtendWith(OutputCaptureExtension.class)
class SessionClaimsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String LOCK = "sessions:lock";
  private static final String CLAIM = "sessions:claim:left";

  /// More than one page of a claim that a writer reads.
  private static final int DEVICES = 1_500;

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void a_writer_that_lost_its_lock_leaves_the_rest_to_the_other(CapturedOutput output)
      throws Exception {
    List<String> devices = IntStream.range(0, DEVICES).mapToObj(i -> "d" + i).toList();
    try (RedisClient client = RedisClient.create(dispatcher.services.redis().toString());
        var redis = client.connect();
        Connection connection = dispatcher.connection();
        Connection reading = dispatcher.connection()) {
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(reading, true));
      JdbcTemplate holding = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      insert(sql, devices);
      RedisCommands<String, String> commands = redis.sync();
      Eventually.within(
          PATIENCE,
          () -> assertThat(commands.set(LOCK, "test", SetArgs.Builder.nx())).isEqualTo("OK"));
      claim(commands, devices);
      connection.setAutoCommit(false);
      holding.queryForList("SELECT device_id FROM devices WHERE app_id = ? FOR UPDATE", shop.app());

      commands.del(LOCK);
      Eventually.within(PATIENCE, () -> assertThat(dispatcher.transactionWaits()).isTrue());
      commands.set(LOCK, "another process");
      connection.commit();

      Eventually.within(
          PATIENCE, () -> assertThat(output).contains("another process writes them now"));
      assertThat(written(sql)).isPositive().isLessThan(DEVICES);
      assertThat(commands.hlen(CLAIM)).isEqualTo(DEVICES);

      commands.del(LOCK);
      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(written(sql)).isEqualTo(DEVICES);
            assertThat(commands.exists(CLAIM)).isZero();
          });
    }
  }

  @Test
  void updates_of_one_page_are_committed_together() throws Exception {
    List<String> devices = IntStream.range(100, 200).mapToObj(i -> "d" + i).toList();
    try (RedisClient client = RedisClient.create(dispatcher.services.redis().toString());
        var redis = client.connect();
        Connection connection = dispatcher.connection();
        Connection reading = dispatcher.connection()) {
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(reading, true));
      JdbcTemplate holding = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      insert(sql, devices);
      connection.setAutoCommit(false);
      holding.queryForList(
          "SELECT device_id FROM devices WHERE app_id = ? AND device_id = ? FOR UPDATE",
          shop.app(),
          devices.getLast());
      claim(redis.sync(), devices);

      Eventually.within(PATIENCE, () -> assertThat(dispatcher.transactionWaits()).isTrue());
      assertThat(written(sql)).isZero();
      connection.commit();

      Eventually.within(PATIENCE, () -> assertThat(written(sql)).isEqualTo(devices.size()));
    }
  }

  @Test
  void redis_frees_a_claim_in_the_background() throws Exception {
    List<String> devices = IntStream.range(0, DEVICES).mapToObj(i -> "d" + i).toList();
    try (RedisClient client = RedisClient.create(dispatcher.services.redis().toString());
        var redis = client.connect();
        Connection connection = dispatcher.connection()) {
      insert(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), devices);
      long before = freedInTheBackground(redis.sync());

      claim(redis.sync(), devices);

      Eventually.within(
          PATIENCE,
          () -> {
            assertThat(redis.sync().exists(CLAIM)).isZero();
            assertThat(freedInTheBackground(redis.sync())).isGreaterThan(before);
          });
    }
  }

  private static long freedInTheBackground(RedisCommands<String, String> commands) {
    return commands
        .info("memory")
        .lines()
        .filter(line -> line.startsWith("lazyfreed_objects:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  /// Leaves updates like a writer that was killed.
  private void claim(RedisCommands<String, String> commands, List<String> devices) {
    commands.hset(
        CLAIM,
        devices.stream()
            .collect(
                Collectors.toMap(
                    device -> shop.app() + "/" + device,
                    _ -> System.currentTimeMillis() + "\n9.9\n\n")));
    commands.sadd("sessions:claims", CLAIM);
  }

  private void insert(JdbcTemplate sql, List<String> devices) {
    sql.batchUpdate(
        "INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at)"
            + " VALUES (?, ?, 'android', 1, '2026-01-01', '2026-01-01', '2026-01-01')",
        devices.stream().map(device -> new Object[] {shop.app(), device}).toList());
  }

  private int written(JdbcTemplate sql) {
    Integer written =
        sql.queryForObject(
            "SELECT COUNT(*) FROM devices WHERE app_id = ? AND app_version = '9.9'",
            Integer.class,
            shop.app());
    return written == null ? 0 : written;
  }
}
