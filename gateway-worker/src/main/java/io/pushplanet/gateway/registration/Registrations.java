package io.pushplanet.gateway.registration;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowCallbackHandler;

/// The present registrations of devices, and their users. Thread-safe.
public final class Registrations {
  private static final int DEVICES_PER_SELECT = 200;
  private static final String ONE = "(d.app_id = ? AND d.device_id = ?)";
  private static final String NOW =
      "SELECT d.app_id, d.device_id, d.user_id, d.created_at, "
          + DeviceRow.COLUMNS
          + """
           FROM devices d
          LEFT JOIN channel_tokens t ON t.app_id = d.app_id AND t.device_id = d.device_id AND t.dead_at IS NULL
          WHERE %s
          """;

  /// The primary key is forced. MariaDB would choose devices_by_user, which holds all columns that
  /// are read; but a deletion locks only the device's row until its very end, and would not be
  /// waited for. It would also read all devices of a small app, and wait for them.
  private static final String LOCK_USERS =
      """
      SELECT d.app_id, d.device_id, d.user_id FROM devices d FORCE INDEX (PRIMARY) WHERE %s LOCK IN SHARE MODE
      """;

  private final JdbcTemplate database;

  public Registrations(DataSource database) {
    this.database = new JdbcTemplate(database);
  }

  /// A device's present registration.
  ///
  /// @param user who is logged in there
  /// @param createdAt when it was first registered, since its last deletion
  public record Registered(Recipient recipient, @Nullable String user, Instant createdAt) {}

  private record Found(List<DeviceRow> rows, @Nullable String user, Instant createdAt) {
    static Found of(ResultSet row) throws SQLException {
      return new Found(
          new ArrayList<>(),
          row.getString("user_id"),
          row.getObject("created_at", LocalDateTime.class).toInstant(ZoneOffset.UTC));
    }

    Registered registered(DeviceId device) {
      return new Registered(DeviceRow.recipient(device, rows), user, createdAt);
    }
  }

  /// @return without the devices that are no longer registered
  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Map<DeviceKey, Registered> of(Collection<DeviceKey> devices) {
    Map<DeviceKey, Found> found = new HashMap<>();
    query(
        NOW,
        devices,
        row -> {
          DeviceKey key = key(row);
          Found device = found.get(key);
          if (device == null) {
            device = Found.of(row);
            found.put(key, device);
          }
          device.rows.add(DeviceRow.of(row));
        });
    Map<DeviceKey, Registered> now = new HashMap<>();
    found.forEach((key, device) -> now.put(key, device.registered(key.device())));
    return now;
  }

  /// The users of devices, locked: another transaction that is to change one waits until this one
  /// ends.
  ///
  /// @return without the devices that are no longer registered
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
    devices.stream()
        .distinct()
        .gather(Gatherers.windowFixed(DEVICES_PER_SELECT))
        .forEach(some -> {
          List<Object> keys = new ArrayList<>();
          some.forEach(key -> Collections.addAll(keys, key.app().value(), key.device().value()));
          database.query(
              sql.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE))),
              each,
              keys.toArray());
        });
  }

  private static DeviceKey key(ResultSet row) throws SQLException {
    return new DeviceKey(
        new AppId(row.getString("app_id")), new DeviceId(row.getString("device_id")));
  }
}
