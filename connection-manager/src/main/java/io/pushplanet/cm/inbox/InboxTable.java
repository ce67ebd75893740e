package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
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

/// The table `inbox` in MySQL: reads the parked messages of many devices at once, deletes the delivered ones in bulk.
/// Thread-safe; blocks.
final class InboxTable {
  private static final int SECONDS = 5;

  private final DataSource database;
  private final int perDevice;
  private final int perRead;

  /// @param perDevice most rows of one device in an answer
  /// @param perRead most rows of one statement
  InboxTable(DataSource database, int perDevice, int perRead) {
    this.database = database;
    this.perDevice = perDevice;
    this.perRead = perRead;
  }

  /// Those of the devices that have a living row.
  List<DeviceKey> among(List<DeviceKey> devices, Instant now) throws SQLException {
    var sql =
        "SELECT DISTINCT app_id, device_id FROM inbox WHERE ("
            + either(devices.size())
            + ") AND expires_at > ?";
    List<DeviceKey> found = new ArrayList<>();
    try (var connection = database.getConnection();
        var statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(SECONDS);
      int index = bind(statement, devices);
      statement.setObject(index, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      try (var result = statement.executeQuery()) {
        while (result.next()) {
          found.add(device(result));
        }
      }
    }
    return found;
  }

  /// For so many devices or a few more: a statement that was seen before need not be prepared again. (a, b) IN (...) is not
  /// used as a range by every server version; OR is.
  static String either(int devices) {
    return String.join(" OR ", Collections.nCopies(places(devices), "(app_id=? AND device_id=?)"));
  }

  private static int places(int devices) {
    return devices == 1 ? 1 : 2 * Integer.highestOneBit(devices - 1);
  }

  /// The last device takes the places that are left over, too.
  ///
  /// @return the next parameter's number
  static int bind(PreparedStatement statement, List<DeviceKey> devices) throws SQLException {
    int places = places(devices.size());
    for (int place = 0; place < places; place++) {
      var device = devices.get(Math.min(place, devices.size() - 1));
      statement.setString(2 * place + 1, device.app().value());
      statement.setString(2 * place + 2, device.device().value());
    }
    return 2 * places + 1;
  }

  private static DeviceKey device(ResultSet row) throws SQLException {
    return new DeviceKey(new AppId(row.getString(1)), new DeviceId(row.getString(2)));
  }

  /// The oldest living rows of each device, in the order they were parked.
  Map<DeviceKey, InboxPage.Rows> read(List<DeviceKey> devices, Instant now) throws SQLException {
    var sql =
        "SELECT app_id, device_id, slot, message_id, payload, expires_at, parked_at FROM inbox WHERE ("
            + either(devices.size())
            + ") AND expires_at > ? ORDER BY app_id, device_id, parked_at, message_id LIMIT ?";
    Map<DeviceKey, List<InboxRow>> found = new HashMap<>();
    DeviceKey last = null;
    int rows = 0;
    try (var connection = database.getConnection();
        var statement = connection.prepareStatement(sql)) {
      statement.setQueryTimeout(SECONDS);
      int index = bind(statement, devices);
      statement.setObject(index++, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      statement.setInt(index, perRead);
      try (var result = statement.executeQuery()) {
        while (result.next()) {
          last = device(result);
          rows++;
          found
              .computeIfAbsent(last, _ -> new ArrayList<>())
              .add(
                  new InboxRow(
                      last,
                      result.getString(3),
                      new MessageId(result.getString(4)),
                      Binary.of(result.getString(5)),
                      millis(result, 7),
                      millis(result, 6),
                      0,
                      InboxRow.Fate.DUE));
        }
      }
    }
    boolean cut = rows == perRead;
    Map<DeviceKey, InboxPage.Rows> pages = new HashMap<>();
    for (var device : devices) {
      var all = found.getOrDefault(device, List.of());
      // Behind the cut nothing is known: such a device asks again.
      boolean unknown = cut && last != null && ORDER.compare(device, last) >= 0;
      pages.put(
          device,
          new InboxPage.Rows(
              all.size() > perDevice ? all.subList(0, perDevice) : all,
              unknown || all.size() > perDevice));
    }
    return pages;
  }

  static long millis(ResultSet row, int column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /// Deletes exactly these messages; a newer one in the same slot stays. Sorted, so that nodes do not deadlock.
  void delete(List<InboxRow> rows) throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    var sorted = new ArrayList<>(rows);
    sorted.sort(Comparator.comparing(InboxRow::device, ORDER).thenComparing(InboxRow::slot));
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "DELETE FROM inbox WHERE app_id=? AND device_id=? AND slot=? AND message_id=?")) {
      statement.setQueryTimeout(SECONDS);
      for (var row : sorted) {
        statement.setString(1, row.device().app().value());
        statement.setString(2, row.device().device().value());
        statement.setString(3, row.slot());
        statement.setString(4, row.message().value());
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }

  static final Comparator<DeviceKey> ORDER =
      Comparator.comparing(DeviceKey::app).thenComparing(DeviceKey::device);
}
