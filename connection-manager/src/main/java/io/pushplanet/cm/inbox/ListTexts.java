package io.pushplanet.cm.inbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.message.AppId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The devices of lists. Read texts are cached up to a limit, and one statement reads many lists.
/// Thread-safe; blocks.
final class ListTexts {
  /// A list of a thousand devices has about 37 KB.
  private static final int LISTS_PER_READ = 64;

  private final long mostCharacters;

  // The least recently used list comes first.
  @GuardedBy("this")
  private final LinkedHashMap<Place, DeviceList> kept = new LinkedHashMap<>(16, 0.75f, true);

  @GuardedBy("this")
  private long charactersKept;

  private record Place(AppId app, long seq) {}

  /// Gets one list after the other.
  interface Reader {
    void list(long seq, DeviceList devices);
  }

  /// @param mostCharacters in the cache, one byte each
  ListTexts(long mostCharacters) {
    this.mostCharacters = mostCharacters;
  }

  /// Deleted lists are skipped.
  void read(Connection connection, AppId app, Collection<Long> seqs, Reader reader)
      throws SQLException {
    List<Long> missing = new ArrayList<>();
    for (long seq : seqs) {
      DeviceList list = kept(new Place(app, seq));
      if (list == null) {
        missing.add(seq);
      } else {
        reader.list(seq, list);
      }
    }
    for (int from = 0; from < missing.size(); from += LISTS_PER_READ) {
      int to = Math.min(missing.size(), from + LISTS_PER_READ);
      fetch(connection, app, missing.subList(from, to), reader);
    }
  }

  private void fetch(Connection connection, AppId app, List<Long> seqs, Reader reader)
      throws SQLException {
    var marks = String.join(",", Collections.nCopies(seqs.size(), "?"));
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT seq, devices FROM broadcast_devices WHERE app_id=? AND seq IN ("
                + marks
                + ")")) {
      statement.setQueryTimeout(InboxTable.QUERY_TIMEOUT_SECONDS);
      statement.setString(1, app.value());
      int index = 2;
      for (long seq : seqs) {
        statement.setLong(index++, seq);
      }
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          var list = new DeviceList(row.getString(2));
          keep(new Place(app, row.getLong(1)), list);
          reader.list(row.getLong(1), list);
        }
      }
    }
  }

  private synchronized @Nullable DeviceList kept(Place place) {
    return kept.get(place);
  }

  private synchronized void keep(Place place, DeviceList list) {
    DeviceList before = kept.put(place, list);
    charactersKept += list.text().length() - (before == null ? 0 : before.text().length());
    while (charactersKept > mostCharacters && kept.size() > 1) {
      charactersKept -= kept.pollFirstEntry().getValue().text().length();
    }
  }
}
