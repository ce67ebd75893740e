package io.pushplanet.cm.inbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.cm.inbox.InboxRow.Fate;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/// The broadcasts that wait, in MySQL (`broadcasts`, `broadcast_devices`, `broadcast_positions`): one payload each, lists of the
/// devices they wait for, a position per device.
///
/// Lists are never changed and their numbers rise in the order of commits, so this node keeps what it has read of them and asks
/// each time only for later ones: a device that nothing waits for costs no statement of its own. What is kept is bounded;
/// past its bounds it is read anew. A list goes only after all its ends have been told, hence one that is gone is passed over.
/// Thread-safe; blocks.
final class BroadcastShelf {
  private static final int SECONDS = 5;
  private static final int MOST_LISTS = 100_000;
  private static final long KEPT_MILLIS = Duration.ofMinutes(10).toMillis();
  private static final long MOST_CHARACTERS = 64L << 20;

  private final DataSource database;

  @GuardedBy("this")
  private final Map<AppId, Known> known = new HashMap<>();

  @GuardedBy("this")
  private int lists;

  // Least recently used first.
  @GuardedBy("this")
  private final LinkedHashMap<Place, DeviceList> read = new LinkedHashMap<>(16, 0.75f, true);

  @GuardedBy("this")
  private long charactersRead;

  /// What has been read of an app, in order, since when.
  private record Known(List<Listed> lists, long sinceMillis) {}

  private record Place(AppId app, long seq) {}

  /// A list without its devices.
  private record Listed(
      long seq, MessageId message, long expiresAtMillis, String first, String last) {
    boolean mayName(DeviceId device) {
      return first.compareTo(device.value()) <= 0 && last.compareTo(device.value()) >= 0;
    }
  }

  private record Broadcast(String slot, Binary payload, boolean cancelled) {}

  private record Wanted(DeviceKey device, Listed list) {}

  BroadcastShelf(DataSource database) {
    this.database = database;
  }

  /// The pages with what waits in broadcasts for these devices.
  Map<DeviceKey, InboxPage.Rows> added(
      Map<DeviceKey, InboxPage.Rows> pages, List<DeviceKey> devices, long nowMillis)
      throws SQLException {
    try (var connection = database.getConnection()) {
      var wanted = unpassed(connection, candidates(connection, devices, nowMillis));
      if (wanted.isEmpty()) {
        return pages;
      }
      var owed = naming(connection, wanted);
      var broadcasts = broadcasts(connection, owed);
      Map<DeviceKey, List<InboxRow>> rows = new HashMap<>();
      for (var one : owed) {
        var broadcast = broadcasts.get(one.list().message());
        if (broadcast != null) {
          rows.computeIfAbsent(one.device(), _ -> new ArrayList<>())
              .add(row(one, broadcast, nowMillis));
        }
      }
      Map<DeviceKey, InboxPage.Rows> merged = new HashMap<>(pages);
      rows.forEach((device, some) -> {
        var own = pages.getOrDefault(device, InboxPage.Rows.NONE);
        merged.put(device, own.with(some));
      });
      return merged;
    }
  }

  /// Those of the devices that a list names beyond their positions.
  Set<DeviceKey> among(List<DeviceKey> devices, long nowMillis) throws SQLException {
    try (var connection = database.getConnection()) {
      Set<DeviceKey> found = new HashSet<>();
      naming(connection, unpassed(connection, candidates(connection, devices, nowMillis)))
          .forEach(one -> found.add(one.device()));
      return found;
    }
  }

  private static InboxRow row(Wanted one, Broadcast broadcast, long nowMillis) {
    var list = one.list();
    var fate =
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

  private List<Wanted> candidates(Connection connection, List<DeviceKey> devices, long nowMillis)
      throws SQLException {
    Map<AppId, List<DeviceKey>> byApp = new HashMap<>();
    for (var device : devices) {
      byApp.computeIfAbsent(device.app(), _ -> new ArrayList<>()).add(device);
    }
    List<Wanted> wanted = new ArrayList<>();
    for (var app : byApp.entrySet()) {
      for (var list : lists(connection, app.getKey(), nowMillis)) {
        for (var device : app.getValue()) {
          if (list.mayName(device.device())) {
            wanted.add(new Wanted(device, list));
          }
        }
      }
    }
    return wanted;
  }

  /// Of an app, in order.
  private synchronized List<Listed> lists(Connection connection, AppId app, long nowMillis)
      throws SQLException {
    if (lists > MOST_LISTS) {
      known.clear();
      lists = 0;
    }
    var kept = known.get(app);
    if (kept == null || nowMillis - kept.sinceMillis() > KEPT_MILLIS) {
      // Anew now and then, without what has gone.
      lists -= kept == null ? 0 : kept.lists().size();
      kept = new Known(List.of(), nowMillis);
    }
    var before = kept.lists();
    long last = before.isEmpty() ? 0 : before.getLast().seq();
    List<Listed> later = new ArrayList<>();
    try (var statement =
        connection.prepareStatement(
            "SELECT seq, message_id, expires_at, first_device, last_device"
                + " FROM broadcast_devices WHERE app_id=? AND seq > ? ORDER BY seq")) {
      statement.setQueryTimeout(SECONDS);
      statement.setString(1, app.value());
      statement.setLong(2, last);
      try (var row = statement.executeQuery()) {
        while (row.next()) {
          later.add(
              new Listed(
                  row.getLong(1),
                  new MessageId(row.getString(2)),
                  InboxTable.millis(row, 3),
                  row.getString(4),
                  row.getString(5)));
        }
      }
    }
    lists += later.size();
    List<Listed> all = before;
    if (!later.isEmpty()) {
      all = new ArrayList<>(before);
      all.addAll(later);
    }
    known.put(app, new Known(all, kept.sinceMillis()));
    return all;
  }

  /// Those beyond the positions of their devices.
  private static List<Wanted> unpassed(Connection connection, List<Wanted> wanted)
      throws SQLException {
    if (wanted.isEmpty()) {
      return wanted;
    }
    var devices = new SomeDevices(wanted.stream().map(Wanted::device).distinct().toList());
    Map<DeviceKey, Long> positions = new HashMap<>();
    try (var statement =
        connection.prepareStatement(
            "SELECT app_id, device_id, seq FROM broadcast_positions WHERE "
                + devices.condition())) {
      statement.setQueryTimeout(SECONDS);
      devices.bind(statement);
      try (var row = statement.executeQuery()) {
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

  /// Those whose list really names the device.
  private List<Wanted> naming(Connection connection, List<Wanted> wanted) throws SQLException {
    List<Wanted> naming = new ArrayList<>();
    for (var one : wanted) {
      var list = list(connection, new Place(one.device().app(), one.list().seq()));
      if (list != null && list.contains(one.device().device())) {
        naming.add(one);
      }
    }
    return naming;
  }

  /// Null when it is gone.
  private synchronized @Nullable DeviceList list(Connection connection, Place place)
      throws SQLException {
    var kept = read.get(place);
    if (kept != null) {
      return kept;
    }
    try (var statement =
        connection.prepareStatement(
            "SELECT devices FROM broadcast_devices WHERE app_id=? AND seq=?")) {
      statement.setQueryTimeout(SECONDS);
      statement.setString(1, place.app().value());
      statement.setLong(2, place.seq());
      try (var row = statement.executeQuery()) {
        if (!row.next()) {
          return null;
        }
        var list = new DeviceList(row.getString(1));
        read.put(place, list);
        charactersRead += list.text().length();
        while (charactersRead > MOST_CHARACTERS && read.size() > 1) {
          charactersRead -= read.pollFirstEntry().getValue().text().length();
        }
        return list;
      }
    }
  }

  /// What is gone is absent.
  private static Map<MessageId, Broadcast> broadcasts(
      Connection connection, Collection<Wanted> owed) throws SQLException {
    Map<AppId, Set<MessageId>> byApp = new HashMap<>();
    for (var one : owed) {
      byApp.computeIfAbsent(one.device().app(), _ -> new HashSet<>()).add(one.list().message());
    }
    Map<MessageId, Broadcast> broadcasts = new HashMap<>();
    for (var app : byApp.entrySet()) {
      var marks = String.join(",", Collections.nCopies(app.getValue().size(), "?"));
      try (var statement =
          connection.prepareStatement(
              "SELECT message_id, slot, payload, cancelled_at IS NOT NULL FROM broadcasts"
                  + " WHERE app_id=? AND message_id IN ("
                  + marks
                  + ")")) {
        statement.setQueryTimeout(SECONDS);
        statement.setString(1, app.getKey().value());
        int index = 2;
        for (var message : app.getValue()) {
          statement.setString(index++, message.value());
        }
        try (var row = statement.executeQuery()) {
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

  /// The ends of these rows are told: their devices' positions move on. Sorted, so that nodes do not deadlock.
  void moveOn(List<InboxRow> rows, Instant now) throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    Map<DeviceKey, Long> positions = new HashMap<>();
    rows.forEach(row -> positions.merge(row.device(), row.position(), Math::max));
    var devices = new ArrayList<>(positions.keySet());
    devices.sort(InboxTable.ORDER);
    try (var connection = database.getConnection();
        var statement =
            connection.prepareStatement(
                "INSERT INTO broadcast_positions (app_id, device_id, seq, moved_at) VALUES (?,?,?,?)"
                    + " ON DUPLICATE KEY UPDATE seq=GREATEST(seq, VALUES(seq)), moved_at=VALUES(moved_at)")) {
      statement.setQueryTimeout(SECONDS);
      for (var device : devices) {
        statement.setString(1, device.app().value());
        statement.setString(2, device.device().value());
        statement.setLong(3, positions.getOrDefault(device, 0L));
        statement.setObject(4, LocalDateTime.ofInstant(now, ZoneOffset.UTC));
        statement.addBatch();
      }
      statement.executeBatch();
    }
  }
}
