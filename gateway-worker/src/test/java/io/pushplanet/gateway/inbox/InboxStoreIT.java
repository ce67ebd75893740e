package io.pushplanet.gateway.inbox;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.RealServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class InboxStoreIT {
  private static final DeviceId DEVICE = new DeviceId("d1");
  private static final String ITS_ROW = "app_id = 'shop' AND device_id = 'd1'";

  private RealServers servers;
  private InboxStore inbox;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    servers.sql().update("DELETE FROM inbox");
    register(aPush(Clock.systemUTC()).build(), DEVICE, null);
    inbox = new InboxStore(servers.database(), servers.lanes(), Clock.systemUTC());
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void the_newest_message_of_a_collapse_key_stays_whatever_order_they_come_in() throws Exception {
    // Ids of one millisecond have no order.
    List<Push> byAge =
        Stream.of(collapsing(), collapsing()).sorted(Comparator.comparing(Push::id)).toList();
    Push older = byAge.getFirst();
    Push newer = byAge.getLast();

    inbox.park(List.of(new Parked(newer, DEVICE)));
    inbox.park(List.of(new Parked(older, DEVICE)));

    assertThat(held()).containsExactly(newer.id().value());
    assertThat(collapsed()).containsExactly(older.id());
  }

  @Test
  void parking_a_message_again_replaces_nothing() throws Exception {
    Push push = collapsing();

    inbox.park(List.of(new Parked(push, DEVICE)));
    inbox.park(List.of(new Parked(push, DEVICE)));

    assertThat(held()).containsExactly(push.id().value());
    assertThat(collapsed()).isEmpty();
  }

  /// The worker parks it after the cancellation has looked into the inboxes.
  @Test
  void a_cancelled_message_is_not_parked_for_days() throws Exception {
    Push cancelled = collapsing();
    Push other = aPush(Clock.systemUTC()).build();
    servers.cancel(cancelled);

    inbox.park(List.of(new Parked(cancelled, DEVICE), new Parked(other, DEVICE)));

    assertThat(held()).containsExactly(other.id().value());
    assertThatNothingEndedBut(cancelled);
  }

  @Test
  void a_cancelled_message_replaces_no_other_of_its_collapse_key() throws Exception {
    Push older = collapsing();
    Push cancelled = collapsing();
    servers.cancel(cancelled);
    inbox.park(List.of(new Parked(older, DEVICE)));

    inbox.park(List.of(new Parked(cancelled, DEVICE)));

    assertThat(held()).containsExactly(older.id().value());
    assertThatNothingEndedBut(cancelled);
  }

  /// A list has no user whose change could end it.
  @Test
  void a_message_for_users_waits_in_rows_however_many_they_are() {
    inbox.park(forUsers(2 * BroadcastLog.FEWEST));

    assertThat(
            servers
                .sql()
                .queryForList("SELECT user_id FROM inbox WHERE device_id = 'd7'", String.class))
        .containsExactly("u7");
    assertThat(held()).hasSize(2 * BroadcastLog.FEWEST);
  }

  @Test
  void a_message_for_many_users_is_parked_in_parts() throws Exception {
    List<Parked> many = forUsers(2 * InboxRows.AT_ONCE + 1);

    try (Connection connection = servers.database().getConnection()) {
      DataSource only = new SingleConnectionDataSource(connection, true);
      long before = commits(connection);
      new InboxStore(only, servers.lanes(), Clock.systemUTC()).park(many);

      assertThat(commits(connection) - before).isEqualTo(3);
    }
    assertThat(held()).hasSize(many.size());
  }

  /// A caller that acknowledges only after the return loses none.
  @Test
  void a_park_that_fails_says_which_part_is_durable() throws Exception {
    List<Parked> many = forUsers(2 * InboxRows.AT_ONCE);
    // One to park some, and one to check which of them are cancelled.
    AtomicInteger connectionsLeft = new AtomicInteger(2);
    List<Parked> durable = new ArrayList<>();
    DataSource leaving =
        new DelegatingDataSource(servers.database()) {
          @Override
          public Connection getConnection() throws SQLException {
            if (connectionsLeft.getAndDecrement() == 0) {
              throw new SQLTransientConnectionException("away");
            }
            return super.getConnection();
          }
        };
    InboxStore partly = new InboxStore(leaving, servers.lanes(), Clock.systemUTC());

    assertThatThrownBy(() -> partly.park(many, durable::addAll)).hasRootCauseMessage("away");
    assertThat(held()).hasSize(InboxRows.AT_ONCE);
    assertThat(durable.stream().map(one -> one.device().value()))
        .containsExactlyInAnyOrderElementsOf(
            servers.sql().queryForList("SELECT device_id FROM inbox", String.class));
    inbox.park(many);

    assertThat(held()).hasSize(many.size());
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class)).isEmpty();
  }

  private List<Parked> forUsers(int devices) {
    Push push = aPush(Clock.systemUTC()).build();
    List<Parked> all = new ArrayList<>();
    for (int number = 0; number < devices; number++) {
      DeviceId device = new DeviceId("d" + number);
      register(push, device, "u" + number);
      all.add(new Parked(push, device, "u" + number));
    }
    return all;
  }

  @Test
  void no_message_is_parked_for_a_user_who_has_left_or_a_device_that_is_deleted() throws Exception {
    Push push = aPush(Clock.systemUTC()).build();
    register(push, new DeviceId("d2"), "u2");
    register(push, new DeviceId("d3"), null);
    register(push, new DeviceId("d4"), "u1");
    register(push, new DeviceId("d5"), "u2");
    servers.sql().update("DELETE FROM devices WHERE device_id IN ('d1', 'd6')");

    inbox.park(
        List.of(
            new Parked(push, new DeviceId("d1"), "u1"),
            new Parked(push, new DeviceId("d2"), "u1"),
            new Parked(push, new DeviceId("d3"), "u1"),
            new Parked(push, new DeviceId("d4"), "u1"),
            new Parked(push, new DeviceId("d5")),
            new Parked(push, new DeviceId("d6"))));

    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class))
        .containsExactlyInAnyOrder("d4", "d5");
    assertThat(failed())
        .containsExactlyInAnyOrder(
            "d1 device_deleted", "d2 user_changed", "d3 user_changed", "d6 device_deleted");
  }

  /// The transaction that changes the user has looked for waiting messages already, and is not
  /// done. A deletion locks no more than the device's row until then.
  @ParameterizedTest
  @CsvSource({
    "UPDATE devices SET user_id = 'u2' WHERE %s, SELECT 1, user_changed",
    "SELECT 1 FROM devices WHERE %s FOR UPDATE, DELETE FROM devices WHERE %s, device_deleted"
  })
  void a_message_parked_while_its_device_changes_user_is_not_for_the_new_one(
      String first, String last, String reason) throws Exception {
    Push push = aPush(Clock.systemUTC()).build();
    register(push, DEVICE, "u1");
    try (Connection connection = servers.database().getConnection();
        ExecutorService worker = Executors.newSingleThreadExecutor()) {
      connection.setAutoCommit(false);
      Future<?> parked;
      try (Statement change = connection.createStatement()) {
        change.execute(first.formatted(ITS_ROW));
        parked = worker.submit(() -> inbox.park(List.of(new Parked(push, DEVICE, "u1"))));
        Eventually.within(
            Duration.ofSeconds(20), () -> assertThat(parked.isDone() || someoneWaits()).isTrue());
        change.execute(last.formatted(ITS_ROW));
      }
      connection.commit();
      parked.get();
    }

    assertThat(held()).isEmpty();
    assertThat(failed()).containsExactly("d1 " + reason);
  }

  /// Without a forced index, MySQL reads all devices of a small app.
  @Test
  void parking_waits_only_for_locks_of_its_own_devices() throws Exception {
    Push push = aPush(Clock.systemUTC()).build();
    List<Parked> some = new ArrayList<>();
    for (int number = 0; number < 1_000; number++) {
      DeviceId device = new DeviceId("d" + number);
      register(push, device, "u1");
      if (number % 5 == 0) {
        some.add(new Parked(push, device, "u1"));
      }
    }
    servers.sql().execute("ANALYZE TABLE devices");
    try (ExecutorService worker = Executors.newSingleThreadExecutor();
        Connection connection = servers.database().getConnection();
        Statement change = connection.createStatement()) {
      connection.setAutoCommit(false);
      change.execute(
          "UPDATE devices SET mqtt = FALSE WHERE app_id = 'shop' AND device_id = 'd501'");

      Future<?> parked = worker.submit(() -> inbox.park(some));

      Eventually.within(
          Duration.ofSeconds(20), () -> assertThat(parked.isDone() || someoneWaits()).isTrue());
      assertThat(parked.isDone()).isTrue();
    }
    assertThat(held()).hasSize(200);
  }

  /// Without a forced index, MySQL reads all rows of a small inbox by their messages.
  @Test
  void parking_with_collapse_keys_waits_only_for_locks_of_its_own_slots() throws Exception {
    List<Parked> all = new ArrayList<>();
    List<Parked> some = new ArrayList<>();
    for (int number = 0; number < 1_000; number++) {
      DeviceId device = new DeviceId("d" + number);
      register(collapsing(), device, null);
      all.add(new Parked(collapsing(), device));
      if (number % 5 == 0) {
        some.add(new Parked(collapsing(), device));
      }
    }
    inbox.park(all);
    servers.sql().execute("ANALYZE TABLE inbox");
    try (ExecutorService worker = Executors.newSingleThreadExecutor();
        Connection connection = servers.database().getConnection();
        Statement change = connection.createStatement()) {
      connection.setAutoCommit(false);
      change.execute(
          "UPDATE inbox SET parked_at = NOW(3) WHERE app_id = 'shop' AND device_id = 'd501'");

      Future<?> parked = worker.submit(() -> inbox.park(some));

      Eventually.within(
          Duration.ofSeconds(20), () -> assertThat(parked.isDone() || someoneWaits()).isTrue());
      assertThat(parked.isDone()).isTrue();
    }
    assertThat(collapsed()).hasSize(some.size());
  }

  private void register(Push push, DeviceId device, @Nullable String user) {
    servers
        .sql()
        .update(
            "REPLACE INTO devices (app_id, device_id, platform, mqtt, user_id, created_at, updated_at, seen_at)"
                + " VALUES (?, ?, 'ios', TRUE, ?, NOW(3), NOW(3), NOW(3))",
            push.app().value(),
            device.value(),
            user);
  }

  private boolean someoneWaits() {
    Long waiting =
        servers
            .sql()
            .queryForObject(
                "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'",
                (row, _) -> row.getLong("Value"));
    return waiting != null && waiting > 0;
  }

  private List<String> failed() throws Exception {
    List<String> failed = new ArrayList<>();
    for (DeliveryEvent event : servers.drain(Topology.EVENTS, DeliveryEvent.class)) {
      if (event instanceof DeliveryEvent.Ended ended && ended.state() == DeliveryState.FAILED) {
        failed.add(ended.device() + " " + ended.attempt().reason());
      }
    }
    return failed;
  }

  private void assertThatNothingEndedBut(Push cancelled) throws Exception {
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .singleElement()
        .isInstanceOfSatisfying(
            DeliveryEvent.Ended.class,
            ended -> {
              assertThat(ended.message()).isEqualTo(cancelled.id());
              assertThat(ended.state()).isEqualTo(DeliveryState.CANCELLED);
            });
  }

  @Test
  void workers_that_park_in_one_slot_at_once_report_every_message() throws Exception {
    List<Push> pushes = new ArrayList<>();
    for (int count = 0; count < 40; count++) {
      pushes.add(collapsing());
    }

    try (ExecutorService workers = Executors.newFixedThreadPool(6)) {
      List<Future<?>> parked = new ArrayList<>();
      for (Push push : pushes) {
        parked.add(workers.submit(() -> inbox.park(List.of(new Parked(push, DEVICE)))));
      }
      for (Future<?> one : parked) {
        one.get();
      }
    }

    MessageId newest = pushes.stream().map(Push::id).max(MessageId::compareTo).orElseThrow();
    assertThat(held()).containsExactly(newest.value());
    assertThat(collapsed())
        .containsAll(pushes.stream().map(Push::id).filter(id -> !id.equals(newest)).toList())
        .doesNotContain(newest);
  }

  @Test
  void many_messages_are_taken_out_in_one_commit() throws Exception {
    List<Parked> some =
        Stream.generate(InboxStoreIT::collapsing)
            .limit(100)
            .map(push -> new Parked(push, new DeviceId("d-" + push.id().value())))
            .toList();
    some.forEach(parked -> register(parked.push(), parked.device(), null));
    inbox.park(some);

    try (Connection connection = servers.database().getConnection()) {
      DataSource only = new SingleConnectionDataSource(connection, true);
      long before = commits(connection);
      new InboxStore(only, servers.lanes(), Clock.systemUTC()).takeOut(some);

      assertThat(commits(connection) - before).isEqualTo(1);
      assertThat(held()).isEmpty();
    }
  }

  @Test
  void messages_that_cannot_be_taken_out_are_left() {
    DataSource away = new DriverManagerDataSource("jdbc:mysql://127.0.0.1:1/away");

    assertThatCode(() ->
            new InboxStore(away, servers.lanes(), Clock.systemUTC())
                .takeOut(List.of(new Parked(collapsing(), DEVICE))))
        .doesNotThrowAnyException();
  }

  /// Does not count statements that the server commits by itself.
  private static long commits(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery("SHOW SESSION STATUS LIKE 'Com_commit'")) {
      found.next();
      return found.getLong(2);
    }
  }

  private static Push collapsing() {
    return aPush(Clock.systemUTC())
        .delivered(
            new DeliveryOptions(
                Route.MQTT, Duration.ofHours(1), Urgency.HIGH, "order-77", Duration.ofSeconds(5)))
        .toMqtt(DEVICE.value())
        .build();
  }

  private List<String> held() {
    return servers.sql().queryForList("SELECT message_id FROM inbox", String.class);
  }

  private List<MessageId> collapsed() throws Exception {
    return servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .map(event -> ((DeliveryEvent.Ended) event).message())
        .toList();
  }
}
