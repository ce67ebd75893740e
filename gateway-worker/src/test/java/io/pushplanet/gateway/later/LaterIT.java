package io.pushplanet.gateway.later;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.RealServers;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

class LaterIT {
  private static final String LANE = "push.apns.high";

  private final RealServers servers = RealServers.start();
  private final MutableClock clock = new MutableClock(Instant.parse("2026-11-21T10:00:00Z"));
  private final LaterStore store = new LaterStore(servers.database());
  private final DueRows due =
      new DueRows(servers.database(), servers.lanes()::publishAndWait, clock);

  @BeforeEach
  void empty() {
    servers.sql().update("DELETE FROM later");
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_push_comes_back_when_it_is_due_and_not_before() throws Exception {
    Push push = aPush(clock).toApns("d1", "ab").build().retried();
    store.keep(
        List.of(new Later(clock.instant().plusSeconds(30), LANE, "503 ServiceUnavailable", push)));

    assertThat(due.bringBack()).isZero();
    clock.advance(Duration.ofSeconds(30));
    assertThat(due.bringBack()).isEqualTo(1);
    assertThat(due.bringBack()).isZero();

    assertThat(servers.drain(LANE, Push.class)).containsExactly(push);
  }

  @Test
  void a_push_that_is_kept_twice_comes_back_once() throws Exception {
    Later later =
        new Later(clock.instant(), LANE, "timeout", aPush(clock).toApns("d1", "ab").build());

    store.keep(List.of(later));
    store.keep(List.of(later));
    due.bringBack();

    assertThat(servers.drain(LANE, Push.class)).hasSize(1);
  }

  @Test
  void large_rows_are_written_some_at_a_time() {
    AtomicInteger written = new AtomicInteger();
    DataSource counting =
        new DelegatingDataSource(servers.database()) {
          @Override
          public Connection getConnection() throws SQLException {
            written.incrementAndGet();
            return super.getConnection();
          }
        };
    Content quarter = new Content("x".repeat(LaterStore.CHARACTERS_AT_ONCE / 4), null, Map.of());
    List<Later> many =
        IntStream.range(0, 9)
            .mapToObj(device -> aPush(clock).saying(quarter).toApns("d" + device, "ab").build())
            .map(push -> new Later(clock.instant(), LANE, "paused", push))
            .toList();

    new LaterStore(counting).keep(many);

    assertThat(servers.sql().queryForObject("SELECT COUNT(*) FROM later", Integer.class))
        .isEqualTo(9);
    assertThat(written).hasValue(3);
  }

  @Test
  void bringing_forward_blocks_no_insert() throws Exception {
    Later first = waiting("other", Duration.ofMinutes(20));
    Later second = waiting("other", Duration.ofMinutes(10));
    try (var connection = servers.database().getConnection();
        var other = Executors.newSingleThreadExecutor()) {
      connection.setAutoCommit(false);
      LaterStore keeping = new LaterStore(new SingleConnectionDataSource(connection, true));
      keeping.keep(List.of(first));

      Future<Integer> forward =
          other.submit(() ->
              store.bringAllForward(
                  new AppId("shop"), List.of(LANE), List.of("paused"), clock.instant()));
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(forward.isDone() || someoneWaits()).isTrue());
      keeping.keep(List.of(second));
      connection.commit();

      assertThat(forward.get(20, TimeUnit.SECONDS)).isZero();
    }

    assertThat(servers.sql().queryForList("SELECT id FROM later", String.class))
        .containsExactlyInAnyOrder(first.id().toString(), second.id().toString());
  }

  @Test
  void rows_to_bring_forward_are_read_once_beside_many_others() throws Exception {
    int each = 2_000;
    Push broadcast = aPush(clock).from("shop").toApns("d0", "ab").build();
    List<Later> others = new ArrayList<>();
    List<Later> paused = new ArrayList<>();
    for (int i = 0; i < each; i++) {
      others.add(new Later(clock.instant().plusSeconds(60), LANE, "503", one(i)));
    }
    for (int i = 0; i < each; i++) {
      // Half of them share one message.
      Push push = i % 2 == 0 ? one(i) : broadcast.to(one(i).recipients());
      paused.add(new Later(clock.instant().plusSeconds(300), LANE, "paused", push));
    }
    store.keep(others);
    store.keep(paused);

    try (Connection connection = servers.database().getConnection()) {
      DataSource counted = new SingleConnectionDataSource(connection, true);
      long before = rowsRead(counted);
      int brought =
          new LaterStore(counted)
              .bringAllForward(
                  new AppId("shop"), List.of(LANE), List.of("paused"), clock.instant());

      assertThat(brought).isEqualTo(each);
      // Each row once to choose it, and once more to change it.
      assertThat(rowsRead(counted) - before).isLessThan(4 * each);
    }

    assertThat(
            servers
                .sql()
                .queryForList(
                    "SELECT DISTINCT reason FROM later WHERE due_at <= ?",
                    String.class,
                    Timestamp.from(clock.instant())))
        .containsExactly("paused");
  }

  @Test
  void rows_to_bring_forward_are_found_by_index() throws Exception {
    int each = 2_000;
    Instant dueAt = clock.instant().plusSeconds(300);
    List<Later> waiting = new ArrayList<>();
    for (int i = 0; i < each; i++) {
      waiting.add(new Later(dueAt, "push.fcm.high", "paused", one(i)));
      waiting.add(new Later(dueAt, LANE, "503", one(i)));
      Push others = aPush(clock).from("bank").toApns("d" + i, "ab").build();
      waiting.add(new Later(dueAt, LANE, "paused", others));
    }
    List<Later> paused = many(10, Duration.ofMinutes(5));
    waiting.addAll(paused);
    store.keep(waiting);

    try (Connection connection = servers.database().getConnection()) {
      DataSource counted = new SingleConnectionDataSource(connection, true);
      long before = rowsRead(counted);
      int brought =
          new LaterStore(counted)
              .bringAllForward(
                  new AppId("shop"),
                  List.of(LANE, "push.apns.low"),
                  List.of("credential_unreadable", "paused"),
                  clock.instant());

      assertThat(brought).isEqualTo(paused.size());
      assertThat(rowsRead(counted) - before).isLessThan(each);
    }
  }

  /// Of a word that is longer than the column, whose cut would split a surrogate pair.
  @Test
  void rows_are_found_by_the_providers_whole_word() {
    String word = "x".repeat(Attempt.LONGEST_REASON - 1) + "😀";
    String reason = Attempt.shortened(word, Attempt.LONGEST_REASON);
    store.keep(List.of(new Later(clock.instant().plusSeconds(300), LANE, reason, one(1))));

    assertThat(store.bringForward(new AppId("shop"), LANE, word, clock.instant(), 1)).isOne();
  }

  @Test
  void the_earliest_due_rows_come_forward_and_no_more_than_asked_for() throws Exception {
    List<Later> all = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      all.add(new Later(clock.instant().plusSeconds(600 + i), LANE, "paused", one(i)));
    }
    store.keep(all);

    int brought = store.bringForward(new AppId("shop"), LANE, "paused", clock.instant(), 700);

    assertThat(brought).isEqualTo(700);
    assertThat(due.bringBack()).isEqualTo(DueRows.MAX_ROWS);
    assertThat(due.bringBack()).isEqualTo(200);
    assertThat(servers.drain(LANE, Push.class))
        .containsExactlyInAnyOrderElementsOf(all.stream().limit(700).map(Later::push).toList());
    assertThat(store.bringForward(new AppId("shop"), LANE, "paused", clock.instant(), 700))
        .isEqualTo(500);
  }

  @Test
  void neighbours_of_a_message_come_forward_as_one_request() throws Exception {
    Push one = aPush(clock).from("shop").toApns("d0", "ab").build();
    Push other = aPush(clock).from("shop").toApns("d0", "ab").build();
    List<Later> all = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Push push = i % 2 == 0 ? one : other;
      all.add(
          new Later(
              clock.instant().plusSeconds(600 + i), LANE, "slow", push.to(one(i).recipients())));
    }
    store.keep(all);

    int requests =
        store.bringNeighboursForward(new AppId("shop"), LANE, "slow", clock.instant(), 40, 16);

    assertThat(requests).isEqualTo(40);
    assertThat(due.bringBack()).isEqualTo(DueRows.MAX_ROWS);
    assertThat(due.bringBack()).isEqualTo(40 * 16 - DueRows.MAX_ROWS);
    List<Push> back = servers.drain(LANE, Push.class);
    assertThat(back)
        .containsExactlyInAnyOrderElementsOf(all.stream().limit(640).map(Later::push).toList());
    assertThat(back.subList(0, 320)).extracting(Push::id).containsOnly(one.id());
    assertThat(
            store.bringNeighboursForward(new AppId("shop"), LANE, "slow", clock.instant(), 40, 16))
        .as("two of 180")
        .isEqualTo(24);
  }

  @Test
  void messages_of_one_device_each_are_a_request_each() {
    store.keep(many(100, Duration.ofMinutes(5)));

    assertThat(
            store.bringNeighboursForward(
                new AppId("shop"), LANE, "paused", clock.instant(), 40, 16))
        .isEqualTo(40);
    assertThat(due.bringBack()).isEqualTo(40);
  }

  @Test
  void a_request_taken_by_another_worker_does_not_count() throws Exception {
    List<Later> all = new ArrayList<>();
    for (int message = 0; message < 4; message++) {
      Push push = aPush(clock).from("shop").toApns("d0", "ab").build();
      for (int device = 0; device < 16; device++) {
        Instant dueAt = clock.instant().plusSeconds(600 + all.size());
        all.add(new Later(dueAt, LANE, "slow", push.to(one(all.size()).recipients())));
      }
    }
    store.keep(all);
    try (var another = servers.database().getConnection();
        var threads = Executors.newSingleThreadExecutor()) {
      another.setAutoCommit(false);
      try (var update = another.prepareStatement("UPDATE later SET due_at = ? WHERE id = ?")) {
        for (Later taken : all.subList(0, 32)) {
          update.setTimestamp(1, Timestamp.from(clock.instant()));
          update.setString(2, taken.id().toString());
          update.executeUpdate();
        }
      }

      Future<Integer> requests =
          threads.submit(() ->
              store.bringNeighboursForward(
                  new AppId("shop"), LANE, "slow", clock.instant(), 2, 16));
      Eventually.within(Duration.ofSeconds(60), () -> assertThat(someoneWaits()).isTrue());
      another.commit();

      assertThat(requests.get(20, TimeUnit.SECONDS)).isEqualTo(2);
    }
    assertThat(due.bringBack()).isEqualTo(64);
  }

  @Test
  void waiting_apps_are_found_without_reading_their_rows() throws Exception {
    List<Later> waiting = new ArrayList<>(many(2_000, Duration.ofMinutes(5)));
    Instant dueAt = clock.instant().plusSeconds(300);
    for (int i = 0; i < 2_000; i++) {
      Push others = aPush(clock).from("bank").toApns("d" + i, "ab").build();
      waiting.add(new Later(dueAt, LANE, "503", others));
    }
    Push zoo = aPush(clock).from("zoo").toApns("d1", "ab").build();
    waiting.add(new Later(dueAt, LANE, "paused", zoo));
    waiting.add(new Later(dueAt, "push.fcm.high", "paused", zoo));
    store.keep(waiting);

    try (Connection connection = servers.database().getConnection()) {
      DataSource counted = new SingleConnectionDataSource(connection, true);
      long before = rowsRead(counted);

      assertThat(new LaterStore(counted).waiting(LANE, "paused"))
          .containsExactly(new AppId("shop"), new AppId("zoo"));
      assertThat(rowsRead(counted) - before).isLessThan(1_000);
    }
  }

  private Push one(int device) {
    return aPush(clock).from("shop").toApns("d" + device, "ab").build();
  }

  @Test
  void a_push_that_a_deadlock_rolled_back_is_kept_after_all() {
    AtomicInteger deadlocks = new AtomicInteger(1);
    DataSource deadlocking =
        new DelegatingDataSource(servers.database()) {
          @Override
          public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            return deadlocks.getAndDecrement() > 0 ? deadlockedOn(connection) : connection;
          }
        };

    new LaterStore(deadlocking).keep(List.of(waiting("shop", Duration.ofMinutes(1))));

    assertThat(servers.sql().queryForObject("SELECT COUNT(*) FROM later", Integer.class)).isOne();
  }

  @Test
  void a_claim_that_a_deadlock_rolled_back_has_published_nothing() throws Exception {
    Later waiting = waiting("shop", Duration.ZERO);
    store.keep(List.of(waiting));
    try (Connection connection = servers.database().getConnection();
        var other = Executors.newSingleThreadExecutor()) {
      connection.setAutoCommit(false);
      JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      // A deadlock does not roll back the transaction that has changed more rows.
      new LaterStore(new SingleConnectionDataSource(connection, true))
          .keep(many(2_000, Duration.ofMinutes(5)));
      sql.queryForList(
          "SELECT id FROM later FORCE INDEX (later_by_message) WHERE app_id = 'shop' AND message_id = ? LOCK IN SHARE MODE",
          waiting.push().id().value());

      Future<Integer> brought = other.submit(due::bringBack);
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(brought.isDone() || someoneWaits()).isTrue());
      sql.queryForList("SELECT id FROM later WHERE id = ? FOR UPDATE", waiting.id().toString());

      assertThat(brought.get(20, TimeUnit.SECONDS)).isZero();
      connection.rollback();
    }

    assertThat(due.bringBack()).isEqualTo(1);
    assertThat(servers.drain(LANE, Push.class)).containsExactly(waiting.push());
  }

  @Test
  void claiming_and_bringing_forward_do_not_deadlock() throws Exception {
    List<Later> all = many(100, Duration.ZERO);
    store.keep(all);
    servers.sql().execute("ANALYZE TABLE later");
    try (var other = Executors.newSingleThreadExecutor()) {
      List<Future<Integer>> forward = new ArrayList<>();
      DueRows claiming =
          new DueRows(
              servers.database(),
              (lane, items) -> {
                // By a clock that is slow.
                Instant late = clock.instant().minusSeconds(1);
                forward.add(
                    other.submit(() ->
                        store.bringAllForward(
                            new AppId("shop"), List.of(LANE), List.of("paused"), late)));
                Eventually.within(
                    Duration.ofSeconds(60),
                    () -> assertThat(forward.getFirst().isDone() || someoneWaits()).isTrue());
                servers.lanes().publishAndWait(lane, items);
              },
              clock);

      assertThat(claiming.bringBack()).isEqualTo(100);
      assertThat(forward.getFirst().get(20, TimeUnit.SECONDS)).isZero();
    }

    assertThat(servers.drain(LANE, Push.class))
        .containsExactlyInAnyOrderElementsOf(all.stream().map(Later::push).toList());
  }

  private List<Later> many(int number, Duration wait) {
    return IntStream.range(0, number)
        .mapToObj(device -> aPush(clock).from("shop").toApns("d" + device, "ab").build())
        .map(push -> new Later(clock.instant().plus(wait), LANE, "paused", push))
        .toList();
  }

  private static Connection deadlockedOn(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            LaterIT.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (_, method, arguments) -> {
              if (method.getName().equals("prepareStatement")) {
                throw new SQLTransactionRollbackException("Deadlock found", "40001", 1213);
              }
              return method.invoke(connection, arguments);
            });
  }

  private Later waiting(String app, Duration wait) {
    Push push = aPush(clock).from(app).toApns("d1", "ab").build();
    return new Later(clock.instant().plus(wait), LANE, "paused", push);
  }

  /// Not by `innodb_trx`, which repeats its answer when it is asked again within a tenth of a
  /// second.
  private boolean someoneWaits() {
    Long waiting =
        servers
            .sql()
            .queryForObject(
                "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'",
                (row, _) -> row.getLong("Value"));
    return waiting != null && waiting > 0;
  }

  @Test
  void workers_do_not_bring_back_the_same_push_twice() throws Exception {
    List<Later> many = new ArrayList<>();
    for (int number = 0; number < 2_000; number++) {
      many.add(
          new Later(
              clock.instant(), LANE, "retry", aPush(clock).toApns("d" + number, "ab").build()));
    }
    store.keep(many);

    AtomicInteger brought = new AtomicInteger();
    try (var workers = Executors.newFixedThreadPool(4)) {
      for (int worker = 0; worker < 4; worker++) {
        workers.submit(() ->
            Eventually.within(
                Duration.ofSeconds(60),
                () -> assertThat(brought.addAndGet(due.bringBack())).isEqualTo(2_000)));
      }
    }

    assertThat(brought).hasValue(2_000);
    assertThat(servers.drain(LANE, Push.class)).hasSize(2_000).doesNotHaveDuplicates();
  }

  @Test
  void a_lane_that_the_broker_refuses_holds_up_no_other() throws Exception {
    String full = "push.webpush.high";
    List<Later> refused = new ArrayList<>();
    for (int number = 0; number <= DueRows.MAX_ROWS; number++) {
      Push push = aPush(clock).toWebPush("d" + number, "{}").build();
      refused.add(new Later(clock.instant().minusSeconds(60), full, "retry", push));
    }
    store.keep(refused);
    Push other = aPush(clock).toApns("d1", "ab").build();
    store.keep(List.of(new Later(clock.instant(), LANE, "retry", other)));
    DueRows refusing =
        new DueRows(
            servers.database(),
            (lane, items) -> {
              if (lane.equals(full)) {
                throw new BrokerUnavailable("the broker refused the message", null);
              }
              servers.lanes().publishAndWait(lane, items);
            },
            clock);

    assertThatThrownBy(refusing::bringBack).isInstanceOf(BrokerUnavailable.class);

    assertThat(servers.drain(LANE, Push.class)).containsExactly(other);
    assertThat(servers.sql().queryForList("SELECT lane FROM later", String.class))
        .hasSameSizeAs(refused)
        .containsOnly(full);
  }

  @Test
  void only_one_claim_is_read_of_a_lane_that_the_broker_refuses() throws Exception {
    String full = "push.webpush.high";
    List<Later> refused = new ArrayList<>();
    for (int number = 0; number < 10 * DueRows.MAX_ROWS; number++) {
      Push push = aPush(clock).toWebPush("d" + number, "{}").build();
      refused.add(new Later(clock.instant().minusSeconds(60), full, "retry", push));
    }
    store.keep(refused);
    Push other = aPush(clock).toApns("d1", "ab").build();
    store.keep(List.of(new Later(clock.instant(), LANE, "retry", other)));
    List<String> sent = new ArrayList<>();

    long read;
    try (Connection connection = servers.database().getConnection()) {
      DataSource counted = new SingleConnectionDataSource(connection, true);
      DueRows refusing =
          new DueRows(
              counted,
              (lane, _) -> {
                sent.add(lane);
                if (lane.equals(full)) {
                  throw new BrokerUnavailable("the broker refused the message", null);
                }
              },
              clock);
      long before = rowsRead(counted);
      assertThatThrownBy(refusing::bringBack).isInstanceOf(BrokerUnavailable.class);
      read = rowsRead(counted) - before;
    }

    assertThat(sent).containsExactly(LANE, full);
    // Each row once when it is claimed, and once when it is deleted.
    assertThat(read).isLessThan(3 * DueRows.MAX_ROWS);
  }

  /// The rows that this connection has read so far, possibly including those of this query.
  private static long rowsRead(DataSource connection) {
    return new JdbcTemplate(connection)
            .query("SHOW SESSION STATUS LIKE 'Handler_read%'", (row, _) -> row.getLong("Value"))
            .stream()
            .mapToLong(Long::longValue)
            .sum();
  }

  @Test
  void a_lane_with_very_many_rows_delays_no_other() throws Exception {
    List<Later> many = new ArrayList<>();
    for (int number = 0; number <= DueRows.MAX_ROWS; number++) {
      Push push = aPush(clock).toApns("d" + number, "ab").build();
      many.add(new Later(clock.instant().minusSeconds(60), LANE, "retry", push));
    }
    store.keep(many);
    Push other = aPush(clock).toWebPush("d1", "{}").build();
    store.keep(List.of(new Later(clock.instant(), "push.webpush.high", "retry", other)));

    assertThat(due.bringBack()).isEqualTo(DueRows.MAX_ROWS + 1);

    assertThat(servers.drain("push.webpush.high", Push.class)).containsExactly(other);
    assertThat(due.bringBack()).isEqualTo(1);
    assertThat(servers.drain(LANE, Push.class)).hasSameSizeAs(many);
  }

  @Test
  void claims_read_by_index() {
    List<Later> many = new ArrayList<>();
    for (int number = 0; number < 4 * DueRows.MAX_ROWS; number++) {
      Push push = aPush(clock).toApns("d" + number, "ab").build();
      many.add(new Later(clock.instant().plusSeconds(number - 1_000), LANE, "retry", push));
    }
    store.keep(many);
    servers.sql().execute("ANALYZE TABLE later");
    for (String lane : List.of(LANE, "push.webpush.high")) {
      assertThat(
              servers
                  .sql()
                  .queryForList(
                      "EXPLAIN FORMAT=TRADITIONAL " + DueRows.CLAIM,
                      lane,
                      Timestamp.from(clock.instant()),
                      10))
          .allSatisfy(step -> {
            assertThat(step.get("key")).isEqualTo("later_by_lane");
            assertThat(String.valueOf(step.get("Extra"))).doesNotContain("filesort");
          });
    }
    assertThat(servers.sql().queryForList("EXPLAIN FORMAT=TRADITIONAL " + DueRows.NEXT_LANE, ""))
        .allSatisfy(
            step -> assertThat(step.get("Extra")).isEqualTo("Select tables optimized away"));
  }
}
