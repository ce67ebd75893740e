package io.pushplanet.cm.inbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Consumer;

/// The lists of `broadcast_devices`, app by app, without their devices. Lists never change and
/// their numbers rise in the order of commits, so read lists are kept and each query asks only for
/// later ones; from time to time all are read again, to forget the deleted ones. Thread-safe;
/// blocks.
final class KnownLists {
  private static final long KEPT_MILLIS = Duration.ofMinutes(10).toMillis();

  /// Includes the texts of its first and last device and its place in [ListRanges].
  private static final int BYTES_EACH = 250;

  private final long most;

  // The least recently used app comes first.
  @GuardedBy("this")
  private final LinkedHashMap<AppId, OfApp> apps = new LinkedHashMap<>(16, 0.75f, true);

  @GuardedBy("this")
  private int lists;

  /// @param mostBytes for the lists of all apps but the last one
  KnownLists(long mostBytes) {
    this.most = mostBytes / BYTES_EACH;
  }

  /// The lists of one app when they were read. Immutable.
  ///
  /// @param loose the newest lists, so that the others need not be sorted again for each new one
  /// @param newest the greatest number; 0 if there is no list
  record OfApp(ListRanges sorted, List<BroadcastList> loose, long newest, long sinceMillis) {
    private static final int FEWEST_LOOSE = 256;

    static OfApp empty(long nowMillis) {
      return new OfApp(ListRanges.NONE, List.of(), 0, nowMillis);
    }

    /// Calls `then` with each list that may name the device, in no order.
    void forEach(DeviceId device, Consumer<BroadcastList> then) {
      sorted.forEach(device, then);
      for (BroadcastList list : loose) {
        if (list.mayName(device)) {
          then.accept(list);
        }
      }
    }

    private OfApp with(List<BroadcastList> later) {
      List<BroadcastList> more = new ArrayList<>(loose);
      more.addAll(later);
      long newestNow = later.getLast().seq();
      if (more.size() <= Math.max(FEWEST_LOOSE, sorted.size() / 8)) {
        return new OfApp(sorted, List.copyOf(more), newestNow, sinceMillis);
      }
      more.addAll(sorted.all());
      return new OfApp(new ListRanges(more), List.of(), newestNow, sinceMillis);
    }

    private int size() {
      return sorted.size() + loose.size();
    }
  }

  synchronized OfApp of(Connection connection, AppId app, long nowMillis) throws SQLException {
    OfApp kept = apps.get(app);
    if (kept == null || nowMillis - kept.sinceMillis() > KEPT_MILLIS) {
      kept = OfApp.empty(nowMillis);
    }
    List<BroadcastList> later = read(connection, app, kept.newest());
    OfApp known = later.isEmpty() ? kept : kept.with(later);
    OfApp before = apps.put(app, known);
    lists += known.size() - (before == null ? 0 : before.size());
    while (lists > most && apps.size() > 1) {
      lists -= apps.pollFirstEntry().getValue().size();
    }
    return known;
  }

  private static List<BroadcastList> read(Connection connection, AppId app, long after)
      throws SQLException {
    List<BroadcastList> later = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT seq, message_id, expires_at, first_device, last_device"
                + " FROM broadcast_devices WHERE app_id=? AND seq > ? ORDER BY seq")) {
      statement.setQueryTimeout(InboxTable.QUERY_TIMEOUT_SECONDS);
      statement.setString(1, app.value());
      statement.setLong(2, after);
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          later.add(
              new BroadcastList(
                  row.getLong(1),
                  new MessageId(row.getString(2)),
                  InboxTable.millis(row, 3),
                  row.getString(4),
                  row.getString(5)));
        }
      }
    }
    return later;
  }
}
