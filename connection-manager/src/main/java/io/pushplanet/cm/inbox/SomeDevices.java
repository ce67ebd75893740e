package io.pushplanet.cm.inbox;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The SQL condition that a row belongs to one of some devices: `app_id=? AND device_id IN (?,?) OR
/// app_id=? AND ...`, with one IN per app. Not every server version uses (a, b) IN (...) as a
/// range.
///
/// The number of places per app is a power of two, so that statements repeat and need not be
/// prepared again.
final class SomeDevices {
  private final Map<AppId, List<DeviceKey>> byApp = new LinkedHashMap<>();

  SomeDevices(List<DeviceKey> devices) {
    for (DeviceKey device : devices) {
      byApp.computeIfAbsent(device.app(), _ -> new ArrayList<>()).add(device);
    }
  }

  String condition() {
    var sql = new StringBuilder();
    for (List<DeviceKey> devices : byApp.values()) {
      sql.append(sql.isEmpty() ? "" : " OR ").append("app_id=? AND device_id IN (?");
      sql.repeat(",?", places(devices) - 1).append(')');
    }
    return sql.toString();
  }

  private static int places(List<DeviceKey> devices) {
    return devices.size() == 1 ? 1 : 2 * Integer.highestOneBit(devices.size() - 1);
  }

  /// The last device of an app fills the remaining places, too.
  ///
  /// @return the next parameter's number
  int bind(PreparedStatement statement) throws SQLException {
    int next = 1;
    for (Map.Entry<AppId, List<DeviceKey>> app : byApp.entrySet()) {
      statement.setString(next++, app.getKey().value());
      List<DeviceKey> devices = app.getValue();
      for (int place = 0; place < places(devices); place++) {
        DeviceKey device = devices.get(Math.min(place, devices.size() - 1));
        statement.setString(next++, device.device().value());
      }
    }
    return next;
  }
}
