package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.quickstart.services.LocalServices;
import java.security.SecureRandom;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// An app's lists, as many as a million devices and some broadcasts a day cause.
class BroadcastShelfIT {
  private static final Instant NOW = Instant.parse("2026-11-25T00:00:00Z");

  private final HikariDataSource database = new HikariDataSource();
  private final BroadcastShelf shelf = new BroadcastShelf(database);
  private final MessageIds ids = new MessageIds(MutableClock.started(), new SecureRandom());
  private final AppId shop = new AppId("a" + UUID.randomUUID());
  private long seq;

  BroadcastShelfIT() {
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
  void each_device_is_owed_what_names_it_among_thousands_of_lists() throws SQLException {
    List<MessageId> broadcasts = new ArrayList<>();
    for (int n = 0; n < 10; n++) {
      broadcasts.add(broadcast());
      // The even ones of every hundred ids were away.
      listsOf(broadcasts.getLast(), 30_000, 100);
    }

    var pages =
        shelf.withBroadcasts(Map.of(), devices(0, 29_998, 17_500, 17_501), NOW.toEpochMilli());

    assertThat(pages).containsOnlyKeys(devices(0, 29_998, 17_500));
    pages
        .values()
        .forEach(page ->
            assertThat(page.rows())
                .extracting(InboxRow::message)
                .containsExactlyElementsOf(broadcasts));
  }

  @Test
  void lists_that_come_later_are_found_too_whatever_was_read_before() throws SQLException {
    listsOf(broadcast(), 2_000, 100);
    assertThat(shelf.among(devices(7), NOW.toEpochMilli())).isEmpty();

    for (int n = 0; n < 300; n++) {
      park(broadcast(), List.of(List.of(id(7), id(9))));
      assertThat(shelf.among(devices(7, 11), NOW.toEpochMilli()))
          .containsExactlyElementsOf(devices(7));
    }

    var page =
        shelf.withBroadcasts(Map.of(), devices(7), NOW.toEpochMilli()).get(devices(7).getFirst());
    assertThat(page.rows()).hasSize(300);
  }

  @Test
  void a_device_searched_for_in_many_lists_in_vain_is_not_searched_for_in_them_again()
      throws SQLException {
    for (int n = 0; n <= BroadcastShelf.MAX_IN_VAIN; n++) {
      listsOf(broadcast(), 200, 100);
    }

    assertThat(shelf.among(devices(10, 11), NOW.toEpochMilli()))
        .containsOnly(devices(10).getFirst());

    assertThat(position(10)).isZero();
    assertThat(position(11)).isEqualTo(seq);
    park(broadcast(), List.of(List.of(id(10), id(11))));
    assertThat(shelf.among(devices(10, 11), NOW.toEpochMilli()))
        .containsExactlyInAnyOrderElementsOf(devices(10, 11));
  }

  @Test
  void few_looks_in_vain_cost_no_position() throws SQLException {
    for (int n = 0; n < BroadcastShelf.MAX_IN_VAIN; n++) {
      listsOf(broadcast(), 200, 100);
    }

    assertThat(shelf.among(devices(11), NOW.toEpochMilli())).isEmpty();

    assertThat(position(11)).isZero();
  }

  /// One list per `idsEach` ids, with the even ones among them.
  private void listsOf(MessageId message, int devices, int idsEach) throws SQLException {
    park(
        message,
        IntStream.range(0, devices / idsEach)
            .mapToObj(list ->
                IntStream.range(list * idsEach, (list + 1) * idsEach)
                    .filter(n -> n % 2 == 0)
                    .mapToObj(BroadcastShelfIT::id)
                    .toList())
            .toList());
  }

  private void park(MessageId message, List<List<DeviceId>> lists) throws SQLException {
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at,"
                    + " first_device, last_device, devices) VALUES (?,?,?,?,?,?,?,?)")) {
      connection.setAutoCommit(false);
      for (var devices : lists) {
        insert(statement, message, devices);
      }
      statement.executeBatch();
      connection.commit();
    }
  }

  private void insert(PreparedStatement statement, MessageId message, List<DeviceId> devices)
      throws SQLException {
    var list = DeviceList.of(devices);
    statement.setString(1, shop.value());
    statement.setLong(2, ++seq);
    statement.setString(3, message.value());
    statement.setObject(4, at(NOW));
    statement.setObject(5, at(NOW.plus(Duration.ofHours(1))));
    statement.setString(6, list.first().value());
    statement.setString(7, list.last().value());
    statement.setString(8, list.text());
    statement.addBatch();
  }

  private MessageId broadcast() throws SQLException {
    var message = ids.next();
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "INSERT INTO broadcasts (app_id, message_id, slot, payload) VALUES (?,?,?,'{}')")) {
      statement.setString(1, shop.value());
      statement.setString(2, message.value());
      statement.setString(3, message.value());
      statement.executeUpdate();
    }
    return message;
  }

  private long position(int device) throws SQLException {
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "SELECT COALESCE(MAX(seq), 0) FROM broadcast_positions WHERE app_id=? AND device_id=?")) {
      statement.setString(1, shop.value());
      statement.setString(2, id(device).value());
      try (var row = statement.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private List<DeviceKey> devices(int... numbers) {
    return Arrays.stream(numbers).mapToObj(n -> new DeviceKey(shop, id(n))).toList();
  }

  private static DeviceId id(int number) {
    return new DeviceId(String.format(Locale.ROOT, "d%06d", number));
  }

  private static LocalDateTime at(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }
}
