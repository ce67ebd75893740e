package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.statistics.StatisticsSettings.Writing;
import io.pushplanet.migrations.Migrations;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class StatisticsWriterIT {
  private static final AppId SHOP = new AppId("statistics-it");

  private final RealServers servers = RealServers.start();
  private final MessageIds ids = new MessageIds(Clock.systemUTC(), new Random());
  private final StatisticsWriter writer = new StatisticsWriter(servers.database());

  @BeforeEach
  void forget_earlier_tests() {
    for (String table : List.of("messages", "deliveries", "statistics_minutes", "uplinks")) {
      servers.sql().update("DELETE FROM " + table + " WHERE app_id = ?", SHOP.value());
    }
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void every_event_written_twice_has_the_effect_of_one() {
    MessageId message = ids.next();
    List<DeliveryEvent> events = eventsOf(message, 700);

    writer.write(events);
    writer.write(events);

    Map<String, Object> row =
        servers.sql().queryForMap("SELECT * FROM messages WHERE id = ?", message.value());
    assertThat(row)
        .containsEntry("recipients", 700)
        .containsEntry("delivered", 350)
        .containsEntry("failed", 350)
        .containsEntry("duplicates", 0);
    assertThat(
            count(
                "SELECT COUNT(*) FROM deliveries WHERE message_id = ? AND state = 'delivered'",
                message))
        .isEqualTo(350);
    assertThat(
            count(
                "SELECT SUM(count) FROM statistics_minutes WHERE app_id = 'statistics-it' AND outcome = ?",
                "accepted"))
        .isEqualTo(700);
    assertThat(
            count(
                "SELECT SUM(count) FROM statistics_minutes WHERE app_id = 'statistics-it' AND reason = ?",
                "BadDeviceToken"))
        .isEqualTo(350);
  }

  @Test
  void an_audience_of_a_thousand_long_names_is_kept_whole() {
    MessageId message = ids.next();
    List<String> names =
        IntStream.range(0, 1_000).mapToObj(number -> "가".repeat(124) + (1_000 + number)).toList();
    Json audience = WireForm.json(new Audience.Users(names));

    writer.write(
        List.of(
            new DeliveryEvent.Accepted(
                SHOP,
                message.time(),
                message,
                message.time().plusSeconds(60),
                audience,
                WireForm.json(new Content("t", null, Map.of())),
                WireForm.json(DeliveryOptions.DEFAULT),
                List.of(new DeviceId("d1")),
                true,
                null)));

    assertThat(
            servers
                .sql()
                .queryForObject(
                    "SELECT audience FROM messages WHERE id = ?", String.class, message.value()))
        .isEqualTo(audience.text());
  }

  /// As a dispatcher writes it that cancels a message while no worker writes rows.
  @Test
  void a_message_that_was_cancelled_before_its_row_was_written_stays_cancelled() {
    MessageId message = ids.next();
    servers
        .sql()
        .update(
            "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, cancelled_at)"
                + " VALUES (?, ?, ?, '', '', '', NOW(3), NOW(3), NOW(3))",
            message.day(),
            message.value(),
            SHOP.value());

    writer.write(eventsOf(message, 1));

    assertThat(
            count(
                "SELECT COUNT(*) FROM messages WHERE id = ? AND cancelled_at IS NOT NULL AND audience <> ''",
                message))
        .isEqualTo(1);
  }

  @Test
  void workers_that_write_the_same_events_at_once_agree() throws Exception {
    MessageId message = ids.next();
    List<DeliveryEvent> events = eventsOf(message, 200);

    try (var workers = Executors.newFixedThreadPool(4)) {
      for (int worker = 0; worker < 4; worker++) {
        List<DeliveryEvent> shuffled = new ArrayList<>(events);
        Collections.shuffle(shuffled, new Random(worker));
        workers.submit(() -> {
          for (int from = 0; from < shuffled.size(); from += 40) {
            writer.write(shuffled.subList(from, Math.min(from + 40, shuffled.size())));
          }
          return true;
        });
      }
    }

    Map<String, Object> row =
        servers.sql().queryForMap("SELECT * FROM messages WHERE id = ?", message.value());
    assertThat(row)
        .containsEntry("recipients", 200)
        .containsEntry("delivered", 100)
        .containsEntry("failed", 100);
    assertThat(row.get("audience").toString()).contains("devices");
  }

  @Test
  void events_split_between_two_writers_are_written_completely() throws Exception {
    List<MessageId> messages = IntStream.range(0, 20).mapToObj(_ -> ids.next()).toList();
    List<DeliveryEvent> events = new ArrayList<>();
    messages.forEach(message -> events.addAll(eventsOf(message, 20)));
    Collections.shuffle(events, new Random(1));

    try (StatisticsIntake intake = intake(2);
        var takers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> taken = new ArrayList<>();
      for (int from = 0; from < events.size(); from += 10) {
        byte[] body =
            WireForm.join(events.subList(from, from + 10).stream().map(WireForm::write).toList());
        taken.add(takers.submit(() -> intake.take(body)));
      }
      for (Future<?> one : taken) {
        one.get();
      }
    }

    for (MessageId message : messages) {
      assertThat(servers.sql().queryForMap("SELECT * FROM messages WHERE id = ?", message.value()))
          .containsEntry("recipients", 20)
          .containsEntry("delivered", 10)
          .containsEntry("failed", 10)
          .containsEntry("duplicates", 0);
    }
    assertThat(
            count(
                "SELECT SUM(count) FROM statistics_minutes WHERE app_id = 'statistics-it' AND outcome = ?",
                "accepted"))
        .isEqualTo(400);
  }

  private StatisticsIntake intake(int writers) {
    return new StatisticsIntake(
        writer,
        new RefusedEvents(
            new DeadLetters(servers.connections(), Clock.systemUTC(), new SimpleMeterRegistry()),
            Clock.systemUTC(),
            10,
            Duration.ofMinutes(5)),
        new EarlyEvents(
            events -> servers.lanes().publishAndWait(Topology.EARLY, events),
            Clock.systemUTC(),
            Duration.ofMillis(20),
            new SimpleMeterRegistry()),
        new Writing(writers, Duration.ofMillis(20), 100, 64),
        new SimpleMeterRegistry());
  }

  @Test
  void a_receipt_without_its_delivery_is_given_back() {
    DeliveryEvent.Receipt receipt =
        new DeliveryEvent.Receipt(
            SHOP, Instant.now(), ids.next(), new DeviceId("d1"), DeliveryEvent.Receipt.Kind.OPENED);

    assertThat(writer.write(List.of(receipt))).containsExactly(receipt);
  }

  @Test
  void an_uplink_is_kept_once() {
    DeliveryEvent uplink =
        new DeliveryEvent.Uplink(
            SHOP,
            Instant.now(),
            new DeviceId("d1"),
            "00000000-0000-0000-0000-000000000001",
            new byte[] {0, 1, -1});

    writer.write(List.of(uplink));
    writer.write(List.of(uplink));

    assertThat(count("SELECT COUNT(*) FROM uplinks WHERE app_id = ?", SHOP)).isEqualTo(1);
  }

  @Test
  void user_properties_of_an_uplink_are_kept() {
    String pairs = "[[\"b\",\"1\"],[\"a\",\"\uD83C\uDF89\"],[\"b\",\"2\"]]";
    DeliveryEvent.Uplink without = uplink(SHOP);
    DeliveryEvent.Uplink with =
        new DeliveryEvent.Uplink(
            SHOP,
            Instant.now(),
            new DeviceId("d1"),
            ids.next().value(),
            new byte[0],
            new Json(pairs));

    writer.write(List.of(without, with));

    assertThat(userProperties(without)).isNull();
    assertThat(userProperties(with)).isEqualTo(pairs);
  }

  private @Nullable String userProperties(DeliveryEvent.Uplink uplink) {
    return servers
        .sql()
        .queryForObject(
            "SELECT user_properties FROM uplinks WHERE event_id = ?", String.class, uplink.id());
  }

  @Test
  void no_uplink_is_written_behind_one_that_can_be_read() throws Exception {
    AppId other = new AppId("statistics-it-2");
    for (AppId app : List.of(SHOP, other)) {
      servers
          .sql()
          .update(
              "INSERT IGNORE INTO apps (id, name, created_at) VALUES (?, 'a', NOW())", app.value());
    }
    DeliveryEvent.Uplink held = uplink(other);
    try (Connection connection = servers.database().getConnection();
        var writers = Executors.newFixedThreadPool(2)) {
      connection.setAutoCommit(false);
      new JdbcTemplate(new SingleConnectionDataSource(connection, true))
          .update(
              "INSERT INTO uplinks (event_id, app_id, device_id, at, payload) VALUES (?, ?, 'd1', NOW(), '')",
              held.id(),
              held.app().value());

      // Its ids are given out, but its rows are not committed yet.
      Future<?> slow = writers.submit(() -> writer.write(List.of(held, uplink(SHOP))));
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(slow.isDone() || waiting() == 1).isTrue());
      Future<List<DeliveryEvent>> quick = writers.submit(() -> writer.write(List.of(uplink(SHOP))));
      List<DeliveryEvent> given = quick.get(20, TimeUnit.SECONDS);
      List<Long> read = uplinksAfter(0);
      connection.commit();
      slow.get(20, TimeUnit.SECONDS);
      writer.write(given);

      List<Long> later = uplinksAfter(read.isEmpty() ? 0 : read.getLast());
      assertThat(read.size() + later.size()).isEqualTo(2);
    }
  }

  @Test
  void a_row_that_is_locked_too_long_is_tried_again() throws Exception {
    MessageId message = ids.next();
    writer.write(eventsOf(message, 2));
    DeliveryEvent another = eventsOf(message, 3).getLast();
    AtomicInteger tries = new AtomicInteger();
    try (Connection holder = servers.database().getConnection()) {
      holder.setAutoCommit(false);
      new JdbcTemplate(new SingleConnectionDataSource(holder, true))
          .queryForList(
              "SELECT id FROM messages WHERE day = ? AND id = ? FOR UPDATE",
              message.day(),
              message.value());
      DataSource impatient =
          new DelegatingDataSource(servers.database()) {
            @Override
            public Connection getConnection() throws SQLException {
              if (tries.incrementAndGet() == 2) {
                holder.rollback();
              }
              Connection connection = super.getConnection();
              try (var statement = connection.createStatement()) {
                statement.execute("SET SESSION innodb_lock_wait_timeout = 1");
              }
              return connection;
            }
          };

      new StatisticsWriter(impatient).write(List.of(another));
    }

    assertThat(tries).hasValue(2);
    assertThat(count("SELECT recipients FROM messages WHERE id = ?", message)).isEqualTo(3);
  }

  @Test
  void a_held_app_holds_up_nothing_but_its_uplinks() throws Exception {
    AppId other = new AppId("statistics-it-2");
    MessageId message = ids.next();
    DeliveryEvent.Uplink held = uplink(SHOP);
    DeliveryEvent.Uplink free = uplink(other);
    List<DeliveryEvent> events = eventsOf(message, 10);
    events.add(held);
    events.add(free);
    List<DeliveryEvent> given;
    try (var writing = Executors.newSingleThreadExecutor();
        Connection vanished = holding(SHOP)) {
      given = writing.submit(() -> writer.write(events)).get(20, TimeUnit.SECONDS);
      vanished.rollback();
    }

    assertThat(given).containsExactly(held);
    assertThat(count("SELECT recipients FROM messages WHERE id = ?", message)).isEqualTo(10);
    assertThat(count("SELECT COUNT(*) FROM uplinks WHERE event_id = ?", free.id())).isOne();
    assertThat(uplinksAfter(0)).isEmpty();
    assertThat(writer.write(given)).isEmpty();
    assertThat(uplinksAfter(0)).hasSize(1);
  }

  @Test
  void uplinks_of_a_held_app_are_put_aside_and_written_once_it_is_free() throws Exception {
    MessageId message = ids.next();
    byte[] uplinks = WireForm.join(List.of(WireForm.write(uplink(SHOP))));
    byte[] others = WireForm.join(eventsOf(message, 10).stream().map(WireForm::write).toList());
    try (StatisticsIntake intake = intake(1);
        var takers = Executors.newVirtualThreadPerTaskExecutor()) {
      try (Connection vanished = holding(SHOP)) {
        Future<?> given = takers.submit(() -> intake.take(uplinks));
        Future<?> taken = takers.submit(() -> intake.take(others));

        given.get(20, TimeUnit.SECONDS);
        taken.get(20, TimeUnit.SECONDS);
        vanished.rollback();
      }
      List<DeliveryEvent> aside = servers.drain(Topology.EARLY, DeliveryEvent.class);
      assertThat(aside).hasSize(1);
      assertThat(uplinksAfter(0)).isEmpty();
      intake.takeEarly(WireForm.join(aside.stream().map(WireForm::write).toList()));
    }

    assertThat(count("SELECT delivered FROM messages WHERE id = ?", message)).isEqualTo(5);
    assertThat(uplinksAfter(0)).hasSize(1);
  }

  /// Locks an app like a worker that vanished while it wrote the app's uplinks.
  private Connection holding(AppId app) throws SQLException {
    servers
        .sql()
        .update(
            "INSERT IGNORE INTO apps (id, name, created_at) VALUES (?, 'a', NOW())", app.value());
    Connection connection = servers.database().getConnection();
    connection.setAutoCommit(false);
    new JdbcTemplate(new SingleConnectionDataSource(connection, true))
        .queryForList("SELECT id FROM apps WHERE id = ? FOR UPDATE", app.value());
    return connection;
  }

  private DeliveryEvent.Uplink uplink(AppId app) {
    return new DeliveryEvent.Uplink(
        app, Instant.now(), new DeviceId("d1"), ids.next().value(), new byte[0]);
  }

  private List<Long> uplinksAfter(long id) {
    return servers
        .sql()
        .queryForList(
            "SELECT id FROM uplinks WHERE app_id = ? AND id > ? ORDER BY id",
            Long.class,
            SHOP.value(),
            id);
  }

  private long waiting() {
    return servers
        .sql()
        .queryForObject(
            "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'",
            (row, _) -> row.getLong("Value"));
  }

  @Test
  void locking_rows_reads_no_more_than_these_rows() {
    MessageId message = ids.next();
    writer.write(eventsOf(message, 100));
    String which = String.join(" OR ", Collections.nCopies(3, StatisticsWriter.ONE_ROW));

    List<Map<String, Object>> plan =
        servers
            .sql()
            .queryForList(
                "EXPLAIN FORMAT=TRADITIONAL " + StatisticsWriter.LOCK_ROWS.formatted(which),
                message.day(),
                message.value(),
                "d1",
                message.day(),
                message.value(),
                "d2",
                message.day(),
                message.value(),
                "d3");

    assertThat(plan).allSatisfy(step -> assertThat(step.get("type")).isIn("range", "const", "ref"));
  }

  @Test
  void days_get_partitions_ahead_and_lose_the_old_ones() throws Exception {
    // A database of its own, because workers of other tests make partitions for the days of the
    // real clock.
    String database = freshDatabase();

    List<String> first = new DayPartitions(onDay(database, "2026-11-21"), 1).maintain();
    List<String> again = new DayPartitions(onDay(database, "2026-11-21"), 1).maintain();
    List<String> later = new DayPartitions(onDay(database, "2026-11-26"), 1).maintain();

    assertThat(first)
        .contains("deliveries +p20261121", "deliveries +p20261124", "messages +p20261122");
    assertThat(again).isEmpty();
    assertThat(later)
        .contains("deliveries -p20261121", "deliveries +p20261129")
        .doesNotContain("deliveries -p20261125");
  }

  @Test
  void a_table_that_a_long_transaction_has_read_is_left_to_the_next_round() throws Exception {
    DataSource database = onDay(freshDatabase(), "2026-11-21");
    List<String> refused;
    List<String> next;
    try (Connection pooled = database.getConnection();
        var rounds = Executors.newSingleThreadExecutor();
        Connection backup = database.getConnection()) {
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(pooled, true));
      DayPartitions partitions = new DayPartitions(new SingleConnectionDataSource(pooled, true), 1);
      backup.setAutoCommit(false);
      new JdbcTemplate(new SingleConnectionDataSource(backup, true))
          .queryForList("SELECT * FROM deliveries");

      refused = rounds.submit(partitions::maintain).get(30, TimeUnit.SECONDS);
      sql.execute("SET SESSION innodb_lock_wait_timeout = 5");
      sql.update(
          """
          INSERT INTO deliveries (day, message_id, device_id, app_id, state, attempts, queued_at)
          VALUES ('2026-11-21', 'm', 'd1', 'a', 'queued', '[]', NOW())
          """);
      assertThat(
              sql.queryForObject(
                  "SELECT @@SESSION.lock_wait_timeout = @@GLOBAL.lock_wait_timeout", Boolean.class))
          .as("what the connection was lent with")
          .isTrue();
      backup.commit();
      next = rounds.submit(partitions::maintain).get(30, TimeUnit.SECONDS);
    }

    assertThat(refused)
        .contains("messages +p20261121", "statistics_minutes +p20261121")
        .noneMatch(done -> done.startsWith("deliveries"));
    assertThat(next)
        .contains("deliveries +p20261121")
        .allMatch(done -> done.startsWith("deliveries"));
  }

  private String freshDatabase() {
    servers.sql().execute("DROP DATABASE IF EXISTS day_partitions");
    servers.sql().execute("CREATE DATABASE day_partitions");
    var mysql = servers.services().mysql();
    String url = mysql.jdbcUrl().replaceFirst("(://[^/]+/)[^?]*", "$1day_partitions");
    Migrations.migrate(url, mysql.user(), mysql.password());
    return url;
  }

  /// MySQL's time of day is what a session sets it to
  /// (https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html#sysvar_timestamp).
  private DataSource onDay(String url, String day) {
    long noon = LocalDate.parse(day).atTime(12, 0).toEpochSecond(ZoneOffset.UTC);
    var mysql = servers.services().mysql();
    String session = url + (url.contains("?") ? "&" : "?") + "sessionVariables=timestamp=" + noon;
    return new DriverManagerDataSource(session, mysql.user(), mysql.password());
  }

  private List<DeliveryEvent> eventsOf(MessageId message, int devices) {
    List<DeviceId> recipients =
        IntStream.range(0, devices).mapToObj(number -> new DeviceId("d" + number)).toList();
    List<DeliveryEvent> events = new ArrayList<>();
    events.add(
        new DeliveryEvent.Accepted(
            SHOP,
            message.time(),
            message,
            message.time().plusSeconds(60),
            WireForm.json(new Audience.Devices(recipients)),
            WireForm.json(new Content("Grüße 🎉", null, Map.of())),
            WireForm.json(DeliveryOptions.DEFAULT),
            recipients,
            true,
            null));
    for (int number = 0; number < devices; number++) {
      boolean delivered = number % 2 == 0;
      Attempt attempt =
          delivered
              ? Attempt.delivered(Channel.APNS, message.time().plusMillis(number), 200, null)
              : Attempt.rejected(Channel.APNS, message.time().plusMillis(number), "BadDeviceToken")
                  .answered(400);
      events.add(
          new DeliveryEvent.Ended(
              SHOP,
              attempt.at(),
              message,
              recipients.get(number),
              delivered ? DeliveryState.DELIVERED : DeliveryState.FAILED,
              attempt));
    }
    return events;
  }

  private long count(String sql, Object argument) {
    Long count = servers.sql().queryForObject(sql, Long.class, argument.toString());
    return count == null ? 0 : count;
  }
}
