package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/// The table `inbox` in MySQL: reads the parked messages of many devices at once, deletes the
/// delivered ones in bulk. Thread-safe; blocks.
final class InboxTable {
  static final int QUERY_TIMEOUT_SECONDS = 5;

  private static final InboxPage.Rows UNKNOWN = new InboxPage.Rows(List.of(), true);

  private final DataSource database;
  private final int perDevice;
  private final int perRead;

  /// @param perDevice how many rows of one device an answer may have
  /// @param perRead how many rows one statement may return
  InboxTable(DataSource database, int perDevice, int perRead) {
    this.database = database;
    this.perDevice = perDevice;
    this.perRead = perRead;
  }

  /// The devices that have an unexpired row.
  List<DeviceKey> among(List<DeviceKey> devices, Instant now) throws SQLException {
    var some = new SomeDevices(devices);
    String sql =
        "SELECT DISTINCT app_id, device_id FROM inbox WHERE ("
            + some.condition()
            + ") AND expires_at > ?";
    List<DeviceKey> found = new ArrayList<>();
    try (Connection connection = database.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(QUERY_TIMEOUT_SECONDS);
      int index = some.bind(statement);
      statement.setObject(index, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      try (ResultSet result = statement.executeQuery()) {
        while (result.next()) {
          found.add(device(result));
        }
      }
    }
    return found;
  }

  private static DeviceKey device(ResultSet row) throws SQLException {
    return new DeviceKey(new AppId(row.getString(1)), new DeviceId(row.getString(2)));
  }

  /// The oldest unexpired rows of each device, ordered by the ids of their messages, whenever they
  /// were parked. Devices without rows are absent. If the statement's limit is reached, its rows
  /// are shared evenly, so that a long inbox does not delay short ones.
  Map<DeviceKey, InboxPage.Rows> read(List<DeviceKey> devices, Instant now) throws SQLException {
    var some = new SomeDevices(devices);
    Map<DeviceKey, List<InboxRow>> found = new HashMap<>();
    int rows = 0;
    int place = 0;
    try (Connection connection = database.getConnection();
        PreparedStatement statement = connection.prepareStatement(oldest(some))) {
      statement.setQueryTimeout(QUERY_TIMEOUT_SECONDS);
      int index = some.bind(statement);
      statement.setObject(index++, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      statement.setInt(index++, perDevice + 1);
      statement.setInt(index, perRead);
      try (ResultSet result = statement.executeQuery()) {
        while (result.next()) {
          DeviceKey device = device(result);
          rows++;
          place = result.getInt(7);
          found
              .computeIfAbsent(device, _ -> new ArrayList<>())
              .add(
                  new InboxRow(
                      device,
                      result.getString(3),
                      new MessageId(result.getString(4)),
                      Binary.of(result.getString(5)),
                      millis(result, 6)));
        }
      }
    }
    Map<DeviceKey, InboxPage.Rows> pages = new HashMap<>();
    found.forEach((device, all) -> pages.put(device, page(all)));
    if (rows == perRead) {
      // A device with a row in the last places, or that could have one there, may have more rows,
      // so it asks again.
      for (DeviceKey device : devices) {
        if (found.getOrDefault(device, List.of()).size() >= place - 1) {
          pages.merge(device, UNKNOWN, (known, _) -> new InboxPage.Rows(known.rows(), true));
        }
      }
    }
    return pages;
  }

  /// The sort does not carry the payloads of rows that are not returned.
  static String oldest(SomeDevices some) {
    return "SELECT inbox.app_id, inbox.device_id, inbox.slot, message_id, payload, expires_at,"
        + " place FROM (SELECT app_id, device_id, slot, ROW_NUMBER() OVER"
        + " (PARTITION BY app_id, device_id ORDER BY message_id) AS place FROM inbox WHERE ("
        + some.condition()
        + ") AND expires_at > ?) AS oldest JOIN inbox USING (app_id, device_id, slot)"
        + " WHERE place <= ? ORDER BY place, app_id, device_id LIMIT ?";
  }

  private InboxPage.Rows page(List<InboxRow> all) {
    boolean more = all.size() > perDevice;
    return new InboxPage.Rows(more ? all.subList(0, perDevice) : all, more);
  }

  static long millis(ResultSet row, int column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /// Deletes exactly these messages; a newer one in the same slot stays. Sorted, so that nodes do
  /// not deadlock. One statement deletes all rows: with one statement per row, thousands of
  /// delivered messages waited for it and were sent again when their node died.
  ///
  /// @param rows some hundreds at most
  void delete(List<InboxRow> rows) throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    var sorted = new ArrayList<>(rows);
    sorted.sort(Comparator.comparing(InboxRow::device, ORDER).thenComparing(InboxRow::slot));
    try (Connection connection = database.getConnection()) {
      // Without gap locks, a transaction that parks a message does not wait for this one. The pool
      // resets the level.
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try (PreparedStatement statement = connection.prepareStatement(deletion(sorted.size()))) {
        statement.setQueryTimeout(QUERY_TIMEOUT_SECONDS);
        int index = 1;
        for (InboxRow row : sorted) {
          statement.setString(index++, row.device().app().value());
          statement.setString(index++, row.device().device().value());
          statement.setString(index++, row.slot());
          statement.setString(index++, row.message().value());
        }
        statement.executeUpdate();
      }
    }
  }

  /// The index is forced: in a short table MySQL would scan, and wait for, other transactions'
  /// rows.
  static String deletion(int rows) {
    return "DELETE inbox FROM inbox FORCE INDEX (PRIMARY) WHERE "
        + String.join(
            " OR ",
            Collections.nCopies(rows, "app_id=? AND device_id=? AND slot=? AND message_id=?"));
  }

  static final Comparator<DeviceKey> ORDER =
      Comparator.comparing(DeviceKey::app).thenComparing(DeviceKey::device);
}
