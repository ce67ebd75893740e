package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class QueuedSweeperIT {
  private static final AppId SHOP = new AppId("queued-it");
  private static final Duration LONG_AGO = Duration.ofMinutes(61);

  private final RealServers servers = RealServers.start();
  private final MessageIds ids =
      new MessageIds(Clock.offset(Clock.systemUTC(), Duration.ofHours(-2)), new Random());
  private final StatisticsWriter writer = new StatisticsWriter(servers.database());
  private final QueuedSweeper sweeper = new QueuedSweeper(servers.database(), servers.lanes());

  @BeforeEach
  void forget_earlier_tests() {
    for (String table :
        List.of(
            "messages",
            "deliveries",
            "statistics_minutes",
            "inbox",
            "later",
            "broadcast_devices")) {
      servers.sql().update("DELETE FROM " + table);
    }
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_delivery_without_an_end_expires_an_hour_later_and_counts_once() throws Exception {
    MessageId message = accepted(LONG_AGO, "d1", "d2", "d3");
    writer.write(List.of(ended(message, "d1", DeliveryState.FAILED)));

    List<DeliveryEvent> told = new ArrayList<>(sweep());
    told.addAll(sweep());
    writer.write(told);

    assertThat(told).hasSize(4);
    assertThat(message(message))
        .containsEntry("failed", 1)
        .containsEntry("expired", 2)
        .containsEntry("open_until", null);
    assertThat(
            servers
                .sql()
                .queryForList(
                    "SELECT attempts FROM deliveries WHERE device_id = 'd2' AND state = 'expired' AND reason = 'ttl'",
                    String.class))
        .singleElement()
        .satisfies(attempts ->
            assertThat(WireForm.readBatch(attempts.getBytes(StandardCharsets.UTF_8), Attempt.class))
                .hasSize(1));
    assertThat(
            servers
                .sql()
                .queryForObject(
                    "SELECT SUM(count) FROM statistics_minutes WHERE outcome = 'expired' AND reason = 'ttl'",
                    Long.class))
        .isEqualTo(2);
    assertThat(sweep()).isEmpty();
  }

  @Test
  void a_late_acknowledgement_makes_it_delivered_after_all() throws Exception {
    MessageId message = accepted(LONG_AGO, "d1");
    writer.write(sweep());

    writer.write(List.of(ended(message, "d1", DeliveryState.DELIVERED)));

    assertThat(message(message)).containsEntry("expired", 0).containsEntry("delivered", 1);
  }

  @Test
  void a_message_with_time_left_or_no_acceptance_is_left_alone() throws Exception {
    accepted(Duration.ofMinutes(59), "d1");
    MessageId unknown = ids.next();
    writer.write(
        List.of(
            new DeliveryEvent.Expanded(
                SHOP, unknown.time(), unknown, List.of(new DeviceId("d1")), true)));

    assertThat(sweep()).isEmpty();
  }

  @Test
  void a_message_that_waits_elsewhere_is_ended_there() throws Exception {
    MessageId parked = accepted(LONG_AGO, "d1", "d2");
    servers
        .sql()
        .update(
            """
            INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at)
            VALUES (?, 'd1', 'slot', ?, '{}', NOW(), NOW())
            """,
            SHOP.value(),
            parked.value());
    MessageId later = accepted(LONG_AGO, "d3");
    servers
        .sql()
        .update(
            """
            INSERT INTO later (id, due_at, app_id, message_id, lane, reason, pushes)
            VALUES ('1', NOW(), ?, ?, 'push.apns.high', 'retry', '[]')
            """,
            SHOP.value(),
            later.value());
    MessageId broadcast = accepted(LONG_AGO, "d4");
    servers
        .sql()
        .update(
            """
            INSERT INTO broadcast_devices
              (app_id, seq, message_id, parked_at, expires_at, first_device, last_device, devices)
            VALUES (?, 1, ?, NOW(), NOW(), 'd4', 'd4', 'd4')
            """,
            SHOP.value(),
            broadcast.value());

    assertThat(devices(sweep())).containsExactly("d2");

    servers.sql().update("DELETE FROM inbox");
    servers.sql().update("DELETE FROM later");
    servers.sql().update("DELETE FROM broadcast_devices");
    assertThat(devices(sweep())).containsExactlyInAnyOrder("d1", "d2", "d3", "d4");
  }

  @Test
  void a_message_that_an_older_worker_has_ended_is_closed() throws Exception {
    MessageId message = accepted(LONG_AGO, "d1");
    writer.write(List.of(ended(message, "d1", DeliveryState.DELIVERED)));
    servers
        .sql()
        .update("UPDATE messages SET open_until = expires_at WHERE id = ?", message.value());

    assertThat(sweep()).isEmpty();

    assertThat(message(message)).containsEntry("open_until", null);
  }

  @Test
  void each_of_many_is_told_once() throws Exception {
    List<DeliveryEvent> events = new ArrayList<>();
    Instant expiresAt = Instant.now().minus(LONG_AGO);
    for (int number = 0; number < 2 * QueuedSweeper.MAX_MESSAGES; number++) {
      // Half of them expire at once.
      events.add(
          acceptance(ids.next(), expiresAt.minusMillis(Math.max(0, number - 100)), "d" + number));
    }
    events.add(
        acceptance(
            ids.next(),
            expiresAt,
            IntStream.range(0, 2_001).mapToObj(n -> "many" + n).toArray(String[]::new)));
    writer.write(events);

    assertThat(devices(sweep()))
        .hasSize(2 * QueuedSweeper.MAX_MESSAGES + 2_001)
        .doesNotHaveDuplicates();
  }

  @Test
  void a_message_that_fails_holds_up_none_behind_it() throws Exception {
    MessageId failing = accepted(LONG_AGO.plusMinutes(1), "d1");
    servers
        .sql()
        .update(
            "UPDATE deliveries SET device_id = 'no device' WHERE message_id = ?", failing.value());
    accepted(LONG_AGO, "d2");

    assertThatThrownBy(sweeper::sweep).isInstanceOf(IllegalArgumentException.class);

    assertThat(devices(sweep())).containsExactly("d2");
    servers.sql().update("UPDATE deliveries SET device_id = 'd1' WHERE device_id = 'no device'");
    assertThat(devices(sweep())).contains("d1");
  }

  /// Each statement has to end before the driver gives it up.
  @Test
  void the_last_queued_device_is_found_page_by_page() throws Exception {
    int devices = 3 * QueuedSweeper.MAX_DEVICES;
    MessageId message =
        accepted(
            LONG_AGO,
            IntStream.range(0, devices).mapToObj("d%05d"::formatted).toArray(String[]::new));
    String last = "d%05d".formatted(devices - 1);
    servers.sql().update("UPDATE deliveries SET state = 'delivered' WHERE device_id <> ?", last);

    assertThat(devices(sweep())).containsExactly(last);
    try (Connection connection = servers.database().getConnection()) {
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      long before = rowsRead(sql);
      sql.queryForList(
          QueuedSweeper.DELIVERIES, message.day(), message.value(), "", QueuedSweeper.MAX_DEVICES);
      assertThat(rowsRead(sql) - before).isLessThan(2 * QueuedSweeper.MAX_DEVICES);
    }
  }

  @Test
  void open_messages_are_found_among_many_by_index() throws Exception {
    new DayPartitions(servers.database(), 30).maintain();
    List<DeliveryEvent> events = new ArrayList<>();
    for (int number = 0; number < 3_000; number++) {
      MessageId message = ids.next();
      events.add(acceptance(message, Instant.now().minus(LONG_AGO), "d1"));
      events.add(ended(message, "d1", DeliveryState.DELIVERED));
    }
    writer.write(events);
    accepted(LONG_AGO, "d1");
    servers.sql().execute("ANALYZE TABLE messages, deliveries");
    Timestamp epoch = Timestamp.from(Instant.EPOCH);

    assertThat(
            servers
                .sql()
                .queryForList(
                    "EXPLAIN FORMAT=TRADITIONAL " + QueuedSweeper.OPEN, epoch, epoch, "", 100))
        .isNotEmpty()
        .allSatisfy(step -> {
          assertThat(step.get("key")).isEqualTo("messages_by_open");
          assertThat(step.get("type")).isEqualTo("range");
          assertThat(String.valueOf(step.get("Extra"))).doesNotContain("filesort");
        });
    try (Connection connection = servers.database().getConnection()) {
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      long before = rowsRead(sql);
      QueuedSweeper counted =
          new QueuedSweeper(new SingleConnectionDataSource(connection, true), servers.lanes());
      assertThat(counted.sweep()).as("whether one page had no room for them").isFalse();
      assertThat(rowsRead(sql) - before).isLessThan(1_000);
    }
  }

  /// The rows that this connection has read so far, possibly including those of this query.
  private static long rowsRead(JdbcTemplate sql) {
    return sql
        .query("SHOW SESSION STATUS LIKE 'Handler_read%'", (row, _) -> row.getLong("Value"))
        .stream()
        .mapToLong(Long::longValue)
        .sum();
  }

  private List<DeliveryEvent> sweep() throws Exception {
    boolean more;
    do {
      more = sweeper.sweep();
    } while (more);
    return servers.drain(Topology.EVENTS, DeliveryEvent.class);
  }

  /// Accepts a message that expired so long ago.
  private MessageId accepted(Duration ago, String... devices) {
    MessageId message = ids.next();
    writer.write(List.of(acceptance(message, Instant.now().minus(ago), devices)));
    return message;
  }

  private static DeliveryEvent acceptance(MessageId message, Instant expiresAt, String... devices) {
    List<DeviceId> recipients = Stream.of(devices).map(DeviceId::new).toList();
    return new DeliveryEvent.Accepted(
        SHOP,
        message.time(),
        message,
        expiresAt,
        WireForm.json(new Audience.Devices(recipients.subList(0, 1))),
        WireForm.json(new Content("Hello", null, Map.of())),
        WireForm.json(DeliveryOptions.DEFAULT),
        recipients,
        true,
        null);
  }

  private static DeliveryEvent ended(MessageId message, String device, DeliveryState state) {
    Instant at = Instant.now();
    Attempt attempt = new Attempt(Channel.APNS, at, state.word(), null, null, null, null, null);
    return new DeliveryEvent.Ended(SHOP, at, message, new DeviceId(device), state, attempt);
  }

  private static List<String> devices(List<DeliveryEvent> told) {
    return told.stream().map(event -> ((DeliveryEvent.Ended) event).device().value()).toList();
  }

  private Map<String, Object> message(MessageId message) {
    return servers.sql().queryForMap("SELECT * FROM messages WHERE id = ?", message.value());
  }
}
