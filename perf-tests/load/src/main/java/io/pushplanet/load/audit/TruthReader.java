package io.pushplanet.load.audit;

import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.load.scenario.Target;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// Reads MySQL directly, without any code of the services. Not thread-safe.
final class TruthReader implements AutoCloseable {
  private static final int IDS_PER_QUERY = 500;

  private final Connection connection;

  private interface RowReader {
    void read(ResultSet row) throws SQLException;
  }

  TruthReader(Target target) throws SQLException {
    this.connection =
        DriverManager.getConnection(
            target.mysqlUrl(), target.mysqlUser(), target.mysqlPassword().reveal());
  }

  List<DeliveryRow> deliveries(List<MessageId> messages) throws SQLException {
    List<DeliveryRow> rows = new ArrayList<>();
    perMessage(
        "SELECT message_id, device_id, state, channel, reason, duplicates FROM deliveries WHERE day IN (%s) AND message_id IN (%s)",
        messages,
        row ->
            rows.add(
                new DeliveryRow(
                    new Reception(row.getString(1), new DeviceId(row.getString(2))),
                    DeliveryState.valueOf(row.getString(3).toUpperCase(Locale.ROOT)),
                    orEmpty(row.getString(4)),
                    orEmpty(row.getString(5)),
                    row.getInt(6))));
    return rows;
  }

  Map<String, Counts> counts(List<MessageId> messages) throws SQLException {
    Map<String, Counts> counts = new HashMap<>();
    perMessage(
        "SELECT id, recipients, delivered, failed, expired, cancelled FROM messages WHERE day IN (%s) AND id IN (%s)",
        messages,
        row -> {
          long ended = row.getLong(3) + row.getLong(4) + row.getLong(5) + row.getLong(6);
          counts.put(
              row.getString(1),
              new Counts(
                  row.getLong(2),
                  row.getLong(3),
                  row.getLong(4),
                  row.getLong(5),
                  row.getLong(2) - ended,
                  row.getLong(6)));
        });
    return counts;
  }

  /// By a provider's name of a device: its token, or the last part of its Web Push endpoint.
  Map<String, DeviceId> devicesByToken(AppId app) throws SQLException {
    Map<String, DeviceId> devices = new HashMap<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT token, device_id, channel FROM channel_tokens WHERE app_id = ?")) {
      query.setString(1, app.value());
      each(
          query,
          row -> {
            String token = row.getString(1);
            devices.put(
                row.getString(3).equals("webpush") ? subscription(token) : token,
                new DeviceId(row.getString(2)));
          });
    }
    return devices;
  }

  private static String subscription(String json) {
    String endpoint = WireForm.mapper().readTree(json).path("endpoint").asString("");
    return endpoint.substring(endpoint.lastIndexOf('/') + 1);
  }

  /// Messages that wait in the inbox, in broadcasts or in `later`.
  Set<Reception> held(AppId app) throws SQLException {
    Set<Reception> held = new HashSet<>();
    try (PreparedStatement query =
        connection.prepareStatement("SELECT message_id, device_id FROM inbox WHERE app_id = ?")) {
      query.setString(1, app.value());
      each(query, row -> held.add(new Reception(row.getString(1), new DeviceId(row.getString(2)))));
    }
    Map<String, Long> positions = new HashMap<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT device_id, seq FROM broadcast_positions WHERE app_id = ?")) {
      query.setString(1, app.value());
      each(query, row -> positions.put(row.getString(1), row.getLong(2)));
    }
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT seq, message_id, devices FROM broadcast_devices WHERE app_id = ?")) {
      query.setString(1, app.value());
      each(
          query,
          row -> {
            for (String device : row.getString(3).split(" ")) {
              if (positions.getOrDefault(device, 0L) < row.getLong(1)) {
                held.add(new Reception(row.getString(2), new DeviceId(device)));
              }
            }
          });
    }
    try (PreparedStatement query =
        connection.prepareStatement("SELECT pushes FROM later WHERE app_id = ?")) {
      query.setString(1, app.value());
      each(
          query,
          row -> {
            byte[] batch = row.getString(1).getBytes(StandardCharsets.UTF_8);
            for (Push push : WireForm.readBatch(batch, Push.class)) {
              push.recipients()
                  .forEach(to -> held.add(new Reception(push.id().value(), to.device())));
            }
          });
    }
    return held;
  }

  @Override
  public void close() throws SQLException {
    connection.close();
  }

  private void perMessage(String sql, List<MessageId> messages, RowReader reader)
      throws SQLException {
    for (int from = 0; from < messages.size(); from += IDS_PER_QUERY) {
      List<MessageId> some =
          messages.subList(from, Math.min(messages.size(), from + IDS_PER_QUERY));
      Set<String> days = new TreeSet<>();
      some.forEach(message -> days.add(message.day().toString()));
      String marks = marks(some.size());
      try (PreparedStatement query =
          connection.prepareStatement(String.format(Locale.ROOT, sql, marks(days.size()), marks))) {
        int parameter = 1;
        for (String day : days) {
          query.setString(parameter++, day);
        }
        for (MessageId message : some) {
          query.setString(parameter++, message.value());
        }
        each(query, reader);
      }
    }
  }

  private static void each(PreparedStatement query, RowReader reader) throws SQLException {
    try (ResultSet rows = query.executeQuery()) {
      while (rows.next()) {
        reader.read(rows);
      }
    }
  }

  private static String marks(int count) {
    return "?" + ",?".repeat(count - 1);
  }

  private static String orEmpty(@Nullable String value) {
    return value == null ? "" : value;
  }
}
