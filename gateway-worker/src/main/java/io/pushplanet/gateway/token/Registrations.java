package io.pushplanet.gateway.token;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/// What devices are registered with now, and for whom messages are. Thread-safe.
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

  private static final String FOR_USERS =
      "SELECT id, audience FROM messages WHERE (%s) AND audience LIKE '{\"kind\":\"users\"%%'";
  private static final String ONE_MESSAGE = "(day = ? AND id = ?)";

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
    List<DeviceKey> wanted = devices.stream().distinct().toList();
    for (int from = 0; from < wanted.size(); from += DEVICES_PER_SELECT) {
      collect(
          wanted.subList(from, Math.min(from + DEVICES_PER_SELECT, wanted.size())), rows, users);
    }
    Map<DeviceKey, Registered> now = new HashMap<>();
    rows.forEach((key, all) ->
        now.put(key, new Registered(DeviceRow.recipient(key.device(), all), users.get(key))));
    return now;
  }

  /// Whom messages are for.
  ///
  /// @return what is not for users is absent, and what has no row yet
  /// @throws org.springframework.dao.DataAccessException when MySQL does not answer
  public Map<MessageId, List<String>> usersOf(Collection<MessageId> messages) {
    Map<MessageId, List<String>> users = new HashMap<>();
    List<MessageId> wanted = messages.stream().distinct().toList();
    for (int from = 0; from < wanted.size(); from += DEVICES_PER_SELECT) {
      List<MessageId> some =
          wanted.subList(from, Math.min(from + DEVICES_PER_SELECT, wanted.size()));
      List<Object> keys = new ArrayList<>();
      some.forEach(message -> Collections.addAll(keys, message.day(), message.value()));
      database.query(
          FOR_USERS.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE_MESSAGE))),
          row -> {
            byte[] audience = row.getString("audience").getBytes(StandardCharsets.UTF_8);
            if (WireForm.read(audience, Audience.class)
                instanceof Audience.Users(List<String> named)) {
              users.put(new MessageId(row.getString("id")), named);
            }
          },
          keys.toArray());
    }
    return users;
  }

  private void collect(
      List<DeviceKey> some, Map<DeviceKey, List<DeviceRow>> rows, Map<DeviceKey, String> users) {
    List<Object> keys = new ArrayList<>();
    some.forEach(key -> Collections.addAll(keys, key.app().value(), key.device().value()));
    database.query(
        NOW.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE))),
        row -> {
          DeviceKey key =
              new DeviceKey(
                  new AppId(row.getString("app_id")), new DeviceId(row.getString("device_id")));
          rows.computeIfAbsent(key, _ -> new ArrayList<>()).add(DeviceRow.of(row));
          String user = row.getString("user_id");
          if (user != null) {
            users.put(key, user);
          }
        },
        keys.toArray());
  }
}
