package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.Refusal;
import io.pushplanet.quickstart.services.LocalServices;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InboxTableIT {
  private static final Instant NOW = Instant.parse("2026-11-22T00:00:00Z");
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int PER_DEVICE = 3;
  private static final int PER_READ = 5;

  private final HikariDataSource database = new HikariDataSource();
  private final InboxTable table = new InboxTable(database, PER_DEVICE, PER_READ);
  private final AppId shop = new AppId("a" + UUID.randomUUID());
  private final AppId news = new AppId("b" + UUID.randomUUID());
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicBoolean heapIsFull = new AtomicBoolean();
  private int parked;

  InboxTableIT() {
    var mysql = LocalServices.forTests().mysql();
    database.setJdbcUrl(mysql.jdbcUrl());
    database.setUsername(mysql.user());
    database.setPassword(mysql.password());
  }

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void each_device_gets_the_rows_of_its_own_app() throws SQLException {
    park(new DeviceKey(shop, new DeviceId("d1")), 1);
    park(new DeviceKey(shop, new DeviceId("d3")), 1);
    park(new DeviceKey(news, new DeviceId("d1")), 2);
    park(new DeviceKey(news, new DeviceId("d2")), 1);
    var asked =
        List.of(
            new DeviceKey(shop, new DeviceId("d1")),
            new DeviceKey(news, new DeviceId("d1")),
            new DeviceKey(shop, new DeviceId("d2")),
            new DeviceKey(shop, new DeviceId("d4")));

    var pages = table.read(asked, NOW);

    assertThat(pages).containsOnlyKeys(asked.get(0), asked.get(1));
    assertThat(pages.get(asked.get(0)).rows()).hasSize(1);
    assertThat(pages.get(asked.get(1)).rows()).hasSize(2);
    assertThat(pages.values()).noneMatch(InboxPage.Rows::more);
    assertThat(table.among(asked, NOW)).containsExactlyInAnyOrder(asked.get(0), asked.get(1));
  }

  @Test
  void a_long_inbox_holds_up_nobodys_short_one() throws SQLException {
    var endless = new DeviceKey(shop, new DeviceId("d1"));
    var empty = new DeviceKey(shop, new DeviceId("d2"));
    var one = new DeviceKey(news, new DeviceId("d1"));
    park(endless, PER_DEVICE * PER_READ);
    park(one, 1);

    var pages = table.read(List.of(empty, one, endless), NOW);

    assertThat(pages).containsOnlyKeys(endless, one);
    assertThat(pages.get(one).rows()).hasSize(1);
    assertThat(pages.get(one).more()).isFalse();
    assertThat(pages.get(endless).rows()).hasSize(PER_DEVICE);
    assertThat(pages.get(endless).more()).isTrue();
  }

  @Test
  void a_device_that_may_have_more_rows_than_a_full_answer_asks_again() throws SQLException {
    var devices =
        IntStream.range(0, PER_READ + 1)
            .mapToObj(number -> new DeviceKey(shop, new DeviceId("d" + number)))
            .toList();
    for (var device : devices) {
      park(device, 1);
    }

    var pages = table.read(devices, NOW);

    assertThat(pages)
        .containsOnlyKeys(devices)
        .allSatisfy((_, page) -> assertThat(page.more()).isTrue());
    assertThat(pages.get(devices.getLast()).rows()).isEmpty();
  }

  @Test
  void all_rows_of_every_device_are_read_by_message_whenever_they_were_parked()
      throws SQLException {
    var devices =
        IntStream.range(0, 4)
            .mapToObj(number -> new DeviceKey(number < 2 ? shop : news, new DeviceId("d" + number)))
            .toList();
    for (int row = 0; row < 7; row++) {
      for (var device : devices) {
        park(device, 1);
      }
    }
    Map<DeviceKey, List<InboxRow>> read = new HashMap<>();
    for (var left = devices; !left.isEmpty(); ) {
      var pages = table.read(left, NOW);
      for (var page : pages.entrySet()) {
        read.computeIfAbsent(page.getKey(), _ -> new ArrayList<>()).addAll(page.getValue().rows());
        table.delete(page.getValue().rows());
      }
      left =
          left.stream()
              .filter(device -> pages.containsKey(device) && pages.get(device).more())
              .toList();
    }

    assertThat(read)
        .containsOnlyKeys(devices)
        .allSatisfy((_, rows) -> {
          assertThat(rows).hasSize(7);
          assertThat(rows).isSortedAccordingTo(Comparator.comparing(InboxRow::message));
        });
  }

  @Test
  void many_rows_are_deleted_in_one_statement() throws SQLException {
    int many = 100;
    database.setMaximumPoolSize(1);
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, many + 1);
    var all = new InboxTable(database, many + 1, many + 1).read(List.of(device), NOW);
    var rows = all.get(device).rows().subList(0, many);
    long before = deletions();

    table.delete(rows);

    assertThat(deletions() - before).isEqualTo(1);
    assertThat(table.read(List.of(device), NOW).get(device).rows())
        .containsExactly(all.get(device).rows().getLast());
  }

  @Test
  void rows_are_deleted_by_their_keys_in_a_short_table_too() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, 3);
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement("EXPLAIN FORMAT=TRADITIONAL " + InboxTable.deletion(2))) {
      int index = 1;
      for (var row : table.read(List.of(device), NOW).get(device).rows().subList(0, 2)) {
        statement.setString(index++, device.app().value());
        statement.setString(index++, device.device().value());
        statement.setString(index++, row.slot());
        statement.setString(index++, row.message().value());
      }
      try (var step = statement.executeQuery()) {
        assertThat(step.next()).isTrue();
        assertThat(step.getString("type") + " " + step.getString("key")).isEqualTo("range PRIMARY");
        assertThat(step.getInt("rows")).isEqualTo(2);
        assertThat(step.next()).isFalse();
      }
    }
  }

  /// If a transaction's host has vanished, for instance, MySQL keeps its locks for about a minute.
  @Test
  void a_locked_row_does_not_keep_others_from_being_deleted() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, 3);
    var rows = table.read(List.of(device), NOW).get(device).rows();
    try (var somebody = database.getConnection();
        var inbox = inbox()) {
      somebody.setAutoCommit(false);
      try (var locks =
          somebody.prepareStatement(
              "SELECT slot FROM inbox WHERE app_id=? AND device_id=? AND slot=? FOR UPDATE")) {
        locks.setString(1, device.app().value());
        locks.setString(2, device.device().value());
        locks.setString(3, rows.get(1).slot());
        locks.executeQuery();
      }

      rows.forEach(row -> inbox.delivered(row, null, _ -> {}));

      Eventually.within(
          PATIENCE,
          () ->
              assertThat(table.read(List.of(device), NOW).get(device).rows())
                  .containsExactly(rows.get(1)));
      assertThat(inbox.isReachable()).isTrue();
      somebody.rollback();
      Eventually.within(
          PATIENCE, () -> assertThat(table.read(List.of(device), NOW)).doesNotContainKey(device));
    }
  }

  @Test
  void only_what_a_device_has_acknowledged_counts_as_drained() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    var other = new DeviceKey(shop, new DeviceId("d2"));
    park(device, 3);
    park(other, 3);
    var rows = table.read(List.of(device), NOW).get(device).rows();
    var others = table.read(List.of(other), NOW).get(other).rows();
    try (var inbox = inbox()) {
      inbox.delivered(rows.get(0), null, _ -> {});
      inbox.delivered(rows.get(1), NOW, _ -> {});
      inbox.failed(rows.get(2), new Settlement.Refused(Refusal.TOO_LONG, "for the test"), _ -> {});
      inbox.over(others.get(0).with(InboxRow.Fate.EXPIRED), _ -> {});
      inbox.over(others.get(1).with(InboxRow.Fate.COLLAPSED), _ -> {});
      inbox.over(others.get(2).with(InboxRow.Fate.CANCELLED), _ -> {});

      Eventually.within(
          PATIENCE, () -> assertThat(table.read(List.of(device, other), NOW)).isEmpty());
    }
    assertThat(meters.get("cm.inbox.drained").counter().count()).isEqualTo(2);
  }

  @Test
  void while_the_heap_is_full_reading_waits_for_it() throws Exception {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, 2);
    var loop = new Told();
    List<InboxPage> pages = new ArrayList<>();
    heapIsFull.set(true);
    try (var inbox = inbox()) {
      inbox.read(device, loop, pages::add);
      assertThat(loop.tasks.poll(500, TimeUnit.MILLISECONDS)).isNull();

      heapIsFull.set(false);
      Objects.requireNonNull(loop.tasks.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).run();

      assertThat(pages)
          .singleElement(as(type(InboxPage.Rows.class)))
          .satisfies(page -> assertThat(page.rows()).hasSize(2));
    }
  }

  /// Keeps its tasks for the test to run.
  private static final class Told implements Loop {
    final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public void executeAfter(Duration wait, Runnable task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long nowNanos() {
      return 0;
    }
  }

  private Inbox inbox() {
    return new Inbox(
        database,
        (_, confirmed) -> {
          confirmed.run();
          return true;
        },
        MutableClock.started(),
        new InboxSettings(1, 100, Duration.ZERO, 1, PER_DEVICE, PER_READ),
        heapIsFull::get,
        meters);
  }

  /// The statements of the only connection.
  private long deletions() throws SQLException {
    long all = 0;
    try (var connection = database.getConnection();
        var statement = connection.createStatement();
        var found = statement.executeQuery("SHOW SESSION STATUS LIKE 'Com_delete%'")) {
      while (found.next()) {
        all += found.getLong(2);
      }
    }
    return all;
  }

  /// Neither statement reads rows of other devices, and payloads are fetched only for the answer's
  /// rows.
  @Test
  void inboxes_are_read_by_their_keys() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, PER_DEVICE);
    for (var other = 0; other < 200; other++) {
      park(new DeviceKey(news, new DeviceId("d" + other)), 1);
    }
    var asked = new ArrayList<>(List.of(device));
    IntStream.range(0, 15)
        .forEach(number -> asked.add(new DeviceKey(shop, new DeviceId("e" + number))));
    var some = new SomeDevices(asked);
    List<String> steps = new ArrayList<>();
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement("EXPLAIN FORMAT=TRADITIONAL " + InboxTable.oldest(some))) {
      int index = some.bind(statement);
      statement.setObject(index++, utc(NOW));
      statement.setInt(index++, PER_DEVICE + 1);
      statement.setInt(index, PER_READ);
      try (var step = statement.executeQuery()) {
        while (step.next()) {
          steps.add(
              step.getString("table") + " " + step.getString("type") + " " + step.getString("key"));
        }
      }
    }

    assertThat(steps)
        .filteredOn(step -> !step.startsWith("<"))
        .containsExactlyInAnyOrder("inbox eq_ref PRIMARY", "inbox range PRIMARY");
  }

  @Test
  void a_device_with_more_than_a_page_asks_again() throws SQLException {
    var device = new DeviceKey(shop, new DeviceId("d1"));
    park(device, PER_DEVICE + 1);

    var page = table.read(List.of(device), NOW).get(device);

    assertThat(page.rows()).hasSize(PER_DEVICE);
    assertThat(page.more()).isTrue();
  }

  /// Each row was parked before the older ones.
  private void park(DeviceKey device, int rows) throws SQLException {
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at,"
                    + " expires_at) VALUES (?,?,?,?,?,?,?)")) {
      for (int row = 0; row < rows; row++) {
        parked++;
        statement.setString(1, device.app().value());
        statement.setString(2, device.device().value());
        statement.setString(3, "slot-" + parked);
        statement.setString(4, String.format(Locale.ROOT, "0190b8a0-0000-7000-8000-%012d", parked));
        statement.setString(5, "{}");
        statement.setObject(6, utc(NOW.minusSeconds(parked)));
        statement.setObject(7, utc(NOW.plus(Duration.ofHours(1))));
        statement.executeUpdate();
      }
    }
  }

  private static LocalDateTime utc(Instant at) {
    return LocalDateTime.ofInstant(at, ZoneOffset.UTC);
  }
}
