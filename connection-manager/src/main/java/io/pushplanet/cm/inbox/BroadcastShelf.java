package io.pushplanet.cm.inbox;

import io.pushplanet.cm.inbox.InboxRow.Fate;
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
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The waiting broadcasts in MySQL (`broadcasts`, `broadcast_devices`, `broadcast_positions`): one
/// payload each, lists of the devices that they wait for, and a position per device.
///
/// A device without waiting broadcasts costs no statement of its own. A list is deleted only after
/// all its ends have been told, so a missing list is skipped. A device that was searched for in
/// many lists in vain gets a position behind them; otherwise all of them would be searched at each
/// connect and each patrol. Thread-safe; blocks.
final class BroadcastShelf {
  private static final Logger LOG = LoggerFactory.getLogger(BroadcastShelf.class);

  /// A new position costs a write, while a search in a cached list costs a microsecond.
  static final int MAX_IN_VAIN = 8;

  /// The size of each of the two caches: a sixteenth of the heap.
  private static final long MAX_BYTES = Runtime.getRuntime().maxMemory() / 16;

  private final DataSource database;
  private final KnownLists known = new KnownLists(MAX_BYTES);
  private final ListTexts texts = new ListTexts(MAX_BYTES);

  private record Broadcast(String slot, Binary payload, boolean cancelled) {}

  private record Wanted(DeviceKey device, BroadcastList list) {}

  BroadcastShelf(DataSource database) {
    this.database = database;
  }

  /// The pages, together with the broadcasts that wait for these devices.
  Map<DeviceKey, InboxPage.Rows> withBroadcasts(
      Map<DeviceKey, InboxPage.Rows> pages, List<DeviceKey> devices, long nowMillis)
      throws SQLException {
    try (Connection connection = database.getConnection()) {
      List<Wanted> owed = owed(connection, devices, nowMillis);
      if (owed.isEmpty()) {
        return pages;
      }
      Map<MessageId, Broadcast> broadcasts = broadcasts(connection, owed);
      Map<DeviceKey, List<InboxRow>> rows = new HashMap<>();
      for (Wanted one : owed) {
        Broadcast broadcast = broadcasts.get(one.list().message());
        if (broadcast != null) {
          rows.computeIfAbsent(one.device(), _ -> new ArrayList<>())
              .add(row(one, broadcast, nowMillis));
        }
      }
      Map<DeviceKey, InboxPage.Rows> merged = new HashMap<>(pages);
      rows.forEach((device, some) -> {
        InboxPage.Rows own = pages.getOrDefault(device, InboxPage.Rows.NONE);
        merged.put(device, own.with(some));
      });
      return merged;
    }
  }

  /// The devices that a list names beyond their positions.
  Set<DeviceKey> among(List<DeviceKey> devices, long nowMillis) throws SQLException {
    try (Connection connection = database.getConnection()) {
      Set<DeviceKey> found = new HashSet<>();
      owed(connection, devices, nowMillis).forEach(one -> found.add(one.device()));
      return found;
    }
  }

  private static InboxRow row(Wanted one, Broadcast broadcast, long nowMillis) {
    BroadcastList list = one.list();
    Fate fate =
        broadcast.cancelled()
            ? Fate.CANCELLED
            : list.expiresAtMillis() <= nowMillis ? Fate.EXPIRED : Fate.DUE;
    return new InboxRow(
        one.device(),
        broadcast.slot(),
        list.message(),
        broadcast.payload(),
        list.expiresAtMillis(),
        list.seq(),
        list.seq(),
        fate);
  }

  /// Each device with each list that names it beyond its position.
  private List<Wanted> owed(Connection connection, List<DeviceKey> devices, long nowMillis)
      throws SQLException {
    Map<AppId, Long> newest = new HashMap<>();
    List<Wanted> candidates = new ArrayList<>();
    for (DeviceKey device : devices) {
      newest.putIfAbsent(device.app(), 0L);
    }
    for (Map.Entry<AppId, Long> app : newest.entrySet()) {
      KnownLists.OfApp lists = known.of(connection, app.getKey(), nowMillis);
      app.setValue(lists.newest());
      for (DeviceKey device : devices) {
        if (device.app().equals(app.getKey())) {
          lists.forEach(device.device(), list -> candidates.add(new Wanted(device, list)));
        }
      }
    }
    List<Wanted> wanted = unpassed(connection, candidates);
    List<Wanted> owed = naming(connection, wanted);
    passInVain(connection, wanted, owed, newest, Instant.ofEpochMilli(nowMillis));
    return owed;
  }

  /// The device is in none of its app's lists, so its position moves behind the newest one.
  private static void passInVain(
      Connection connection,
      List<Wanted> wanted,
      List<Wanted> owed,
      Map<AppId, Long> newest,
      Instant now) {
    Map<DeviceKey, Integer> looks = new HashMap<>();
    wanted.forEach(one -> looks.merge(one.device(), 1, Integer::sum));
    owed.forEach(one -> looks.remove(one.device()));
    Map<DeviceKey, Long> positions = new HashMap<>();
    looks.forEach((device, times) -> {
      if (times > MAX_IN_VAIN) {
        positions.put(device, newest.getOrDefault(device.app(), 0L));
      }
    });
    try {
      move(connection, positions, now);
    } catch (SQLException e) {
      // The lists are searched again the next time.
      LOG.debug("event=positions_not_moved devices={}", positions.size(), e);
    }
  }

  /// The lists beyond the positions of their devices.
  private static List<Wanted> unpassed(Connection connection, List<Wanted> wanted)
      throws SQLException {
    if (wanted.isEmpty()) {
      return wanted;
    }
    var devices = new SomeDevices(wanted.stream().map(Wanted::device).distinct().toList());
    Map<DeviceKey, Long> positions = new HashMap<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT app_id, device_id, seq FROM broadcast_positions WHERE "
                + devices.condition())) {
      statement.setQueryTimeout(InboxTable.QUERY_TIMEOUT_SECONDS);
      devices.bind(statement);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          positions.put(
              new DeviceKey(new AppId(row.getString(1)), new DeviceId(row.getString(2))),
              row.getLong(3));
        }
      }
    }
    return wanted.stream()
        .filter(one -> one.list().seq() > positions.getOrDefault(one.device(), 0L))
        .toList();
  }

  /// The lists that really name the device.
  private List<Wanted> naming(Connection connection, List<Wanted> wanted) throws SQLException {
    Map<AppId, Map<Long, List<Wanted>>> byList = new HashMap<>();
    for (Wanted one : wanted) {
      byList
          .computeIfAbsent(one.device().app(), _ -> new HashMap<>())
          .computeIfAbsent(one.list().seq(), _ -> new ArrayList<>())
          .add(one);
    }
    List<Wanted> naming = new ArrayList<>();
    for (Map.Entry<AppId, Map<Long, List<Wanted>>> app : byList.entrySet()) {
      Map<Long, List<Wanted>> lists = app.getValue();
      texts.read(
          connection,
          app.getKey(),
          lists.keySet(),
          (seq, devices) -> {
            for (Wanted one : lists.getOrDefault(seq, List.of())) {
              if (devices.contains(one.device().device())) {
                naming.add(one);
              }
            }
          });
    }
    return naming;
  }

  /// A deleted broadcast is absent from the result.
  private static Map<MessageId, Broadcast> broadcasts(
      Connection connection, Collection<Wanted> owed) throws SQLException {
    Map<AppId, Set<MessageId>> byApp = new HashMap<>();
    for (Wanted one : owed) {
      byApp.computeIfAbsent(one.device().app(), _ -> new HashSet<>()).add(one.list().message());
    }
    Map<MessageId, Broadcast> broadcasts = new HashMap<>();
    for (Map.Entry<AppId, Set<MessageId>> app : byApp.entrySet()) {
      var marks = String.join(",", Collections.nCopies(app.getValue().size(), "?"));
      try (PreparedStatement statement =
          connection.prepareStatement(
              "SELECT message_id, slot, payload, cancelled_at IS NOT NULL FROM broadcasts"
                  + " WHERE app_id=? AND message_id IN ("
                  + marks
                  + ")")) {
        statement.setQueryTimeout(InboxTable.QUERY_TIMEOUT_SECONDS);
        statement.setString(1, app.getKey().value());
        int index = 2;
        for (MessageId message : app.getValue()) {
          statement.setString(index++, message.value());
        }
        try (ResultSet row = statement.executeQuery()) {
          while (row.next()) {
            broadcasts.put(
                new MessageId(row.getString(1)),
                new Broadcast(row.getString(2), Binary.of(row.getString(3)), row.getBoolean(4)));
          }
        }
      }
    }
    return broadcasts;
  }

  /// The ends of these rows have been told: their devices' positions move on.
  ///
  /// @param rows some hundreds at most
  void moveOn(List<InboxRow> rows, Instant now) throws SQLException {
    Map<DeviceKey, Long> positions = new HashMap<>();
    rows.forEach(row -> positions.merge(row.device(), row.position(), Math::max));
    if (!positions.isEmpty()) {
      try (Connection connection = database.getConnection()) {
        move(connection, positions, now);
      }
    }
  }

  /// Moves all positions with one statement. Sorted, so that nodes do not deadlock.
  private static void move(Connection connection, Map<DeviceKey, Long> positions, Instant now)
      throws SQLException {
    if (positions.isEmpty()) {
      return;
    }
    // Without gap locks, a transaction that moves a neighbour's position does not wait for this
    // one. The pool resets the level.
    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    var devices = new ArrayList<>(positions.keySet());
    devices.sort(InboxTable.ORDER);
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at) VALUES "
                + String.join(",", Collections.nCopies(devices.size(), "(?,?,?,?)"))
                + " ON DUPLICATE KEY UPDATE seq=GREATEST(seq, VALUES(seq)), moved_at=VALUES(moved_at)")) {
      statement.setQueryTimeout(InboxTable.QUERY_TIMEOUT_SECONDS);
      int index = 1;
      for (DeviceKey device : devices) {
        statement.setString(index++, device.app().value());
        statement.setString(index++, device.device().value());
        statement.setLong(index++, positions.getOrDefault(device, 0L));
        statement.setObject(index++, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
      }
      statement.executeUpdate();
    }
  }
}
