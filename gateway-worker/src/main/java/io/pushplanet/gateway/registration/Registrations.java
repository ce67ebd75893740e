package io.pushplanet.gateway.registration;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;

/// What devices are registered with now, and whose they are. Thread-safe.
public final class Registrations {
  private static final int DEVICES_PER_SELECT = 200;
  private static final String ONE = "(d.app_id = ? AND d.device_id = ?)";
  private static final String NOW =
      "SELECT d.app_id, d.device_id, d.user_id, "
          + DeviceRow.COLUMNS
          + """
           FROM devices d
          LEFT JOIN channel_tokens t ON t.app_id = d.app_id AND t.device_id = d.device_id AND t.dead_at IS NULL
          WHERE %s
          """;

  /// Forced: devices_by_user has all that is read, and whoever deletes a device holds its row alone until the very end. And all devices
  /// of a small app would be read, and waited for.
  private static final String LOCK_USERS =
      """
      SELECT d.app_id, d.device_id, d.user_id FROM devices d FORCE INDEX (PRIMARY) WHERE %s LOCK IN SHARE MODE
      """;

  private final JdbcTemplate database;

  public Registrations(DataSource database) {
    this.database = new JdbcTemplate(database);
  }

  /// A device as it is registered now.
  ///
  /// @param user who is logged in there
  public record Registered(Recipient recipient, @Nullable String user) {}

  /// @return who is not registered any more is absent
  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Map<DeviceKey, Registered> of(Collection<DeviceKey> devices) {
    Map<DeviceKey, List<DeviceRow>> rows = new HashMap<>();
    Map<DeviceKey, String> users = new HashMap<>();
    query(
        NOW,
        devices,
        row -> {
          DeviceKey key = key(row);
          rows.computeIfAbsent(key, _ -> new ArrayList<>()).add(DeviceRow.of(row));
          String user = row.getString("user_id");
          if (user != null) {
            users.put(key, user);
          }
        });
    Map<DeviceKey, Registered> now = new HashMap<>();
    rows.forEach((key, all) ->
        now.put(key, new Registered(DeviceRow.recipient(key.device(), all), users.get(key))));
    return now;
  }

  /// Whose devices are, for a transaction: who is to change it waits until that ends.
  ///
  /// @return who is not registered any more is absent
  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Map<DeviceKey, Optional<String>> lockUsers(Collection<DeviceKey> devices) {
    Map<DeviceKey, Optional<String>> users = new HashMap<>();
    query(
        LOCK_USERS,
        devices,
        row -> users.put(key(row), Optional.ofNullable(row.getString("user_id"))));
    return users;
  }

  private void query(String sql, Collection<DeviceKey> devices, RowCallbackHandler each) {
    List<DeviceKey> wanted = devices.stream().distinct().toList();
    for (int from = 0; from < wanted.size(); from += DEVICES_PER_SELECT) {
      List<DeviceKey> some =
          wanted.subList(from, Math.min(from + DEVICES_PER_SELECT, wanted.size()));
      List<Object> keys = new ArrayList<>();
      some.forEach(key -> Collections.addAll(keys, key.app().value(), key.device().value()));
      database.query(
          sql.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE))),
          each,
          keys.toArray());
    }
  }

  private static DeviceKey key(ResultSet row) throws SQLException {
    return new DeviceKey(
        new AppId(row.getString("app_id")), new DeviceId(row.getString("device_id")));
  }
}
