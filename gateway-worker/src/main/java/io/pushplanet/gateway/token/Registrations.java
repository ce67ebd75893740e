package io.pushplanet.gateway.token;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// What devices are registered with now. Thread-safe.
public final class Registrations {
  private static final int DEVICES_PER_SELECT = 200;
  private static final String ONE = "(d.app_id = ? AND d.device_id = ?)";
  private static final String NOW =
      "SELECT d.app_id, d.device_id, "
          + DeviceRow.COLUMNS
          + """
           FROM devices d
          LEFT JOIN channel_tokens t ON t.app_id = d.app_id AND t.device_id = d.device_id AND t.dead_at IS NULL
          WHERE %s
          """;

  private final JdbcTemplate database;

  public Registrations(DataSource database) {
    this.database = new JdbcTemplate(database);
  }

  /// @return who is not registered any more is absent
  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Map<DeviceKey, Recipient> of(Collection<DeviceKey> devices) {
    Map<DeviceKey, List<DeviceRow>> rows = new HashMap<>();
    List<DeviceKey> wanted = devices.stream().distinct().toList();
    for (int from = 0; from < wanted.size(); from += DEVICES_PER_SELECT) {
      collect(wanted.subList(from, Math.min(from + DEVICES_PER_SELECT, wanted.size())), rows);
    }
    Map<DeviceKey, Recipient> now = new HashMap<>();
    rows.forEach((key, all) -> now.put(key, DeviceRow.recipient(key.device(), all)));
    return now;
  }

  private void collect(List<DeviceKey> some, Map<DeviceKey, List<DeviceRow>> rows) {
    List<Object> keys = new ArrayList<>();
    some.forEach(key -> Collections.addAll(keys, key.app().value(), key.device().value()));
    database.query(
        NOW.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE))),
        row -> {
          DeviceKey key =
              new DeviceKey(
                  new AppId(row.getString("app_id")), new DeviceId(row.getString("device_id")));
          rows.computeIfAbsent(key, _ -> new ArrayList<>()).add(DeviceRow.of(row));
        },
        keys.toArray());
  }
}
