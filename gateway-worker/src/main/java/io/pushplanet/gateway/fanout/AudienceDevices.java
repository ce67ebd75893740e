package io.pushplanet.gateway.fanout;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/// Reads the devices of an audience from MySQL by keyset: each page starts after the last device of the one before, so that
/// a page costs the same at the start and at the end of a million devices.
final class AudienceDevices {
  /// Every query is one range of the primary key (`PAGE`), then looks up each device of the page by its own.
  static final String ALL =
      query("SELECT device_id FROM devices WHERE app_id = ? AND device_id > ?");

  static final String TOPIC =
      query("SELECT device_id FROM device_topics WHERE app_id = ? AND topic = ? AND device_id > ?");
  static final String TAG =
      query("SELECT device_id FROM device_tags WHERE app_id = ? AND tag = ? AND device_id > ?");

  private final JdbcTemplate database;

  AudienceDevices(JdbcTemplate database) {
    this.database = database;
  }

  DevicePage after(AppId app, Audience audience, @Nullable DeviceId after, int pageSize) {
    String from = after == null ? "" : after.value();
    return switch (audience) {
      case Audience.All() ->
          page(ALL, pageSize, app.value(), from, pageSize, app.value(), app.value());
      case Audience.Topic(String topic) ->
          page(TOPIC, pageSize, app.value(), topic, from, pageSize, app.value(), app.value());
      case Audience.Tag(String tag) ->
          page(TAG, pageSize, app.value(), tag, from, pageSize, app.value(), app.value());
      case Audience.Devices devices ->
          throw new IllegalArgumentException(
              "resolved by the dispatcher, not by fan-out: " + devices);
      case Audience.Users users ->
          throw new IllegalArgumentException(
              "resolved by the dispatcher, not by fan-out: " + users);
    };
  }

  private static String query(String page) {
    return """
    SELECT p.device_id, d.mqtt, t.channel, t.token, t.kind, t.environment, t.registered_at
    FROM (%s ORDER BY device_id LIMIT ?) p
    LEFT JOIN devices d ON d.app_id = ? AND d.device_id = p.device_id
    LEFT JOIN channel_tokens t ON t.app_id = ? AND t.device_id = p.device_id AND t.dead_at IS NULL
    ORDER BY p.device_id
    """
        .formatted(page);
  }

  private DevicePage page(String sql, int pageSize, Object... arguments) {
    Map<DeviceId, List<Row>> devices = new LinkedHashMap<>();
    database.query(
        sql,
        row -> {
          devices
              .computeIfAbsent(new DeviceId(row.getString("device_id")), id -> new ArrayList<>())
              .add(Row.of(row));
        },
        arguments);
    List<Recipient> recipients = new ArrayList<>();
    DeviceId last = null;
    for (Map.Entry<DeviceId, List<Row>> device : devices.entrySet()) {
      last = device.getKey();
      if (device.getValue().getFirst().exists()) {
        recipients.add(recipient(device.getKey(), device.getValue()));
      }
    }
    return new DevicePage(recipients, devices.size() < pageSize ? null : last);
  }

  private static Recipient recipient(DeviceId device, List<Row> rows) {
    ApnsToken apns = null;
    FcmToken fcm = null;
    for (Row row : rows) {
      if (row.token() == null || row.channel() == null || row.registeredAt() == null) {
        continue;
      }
      switch (row.channel()) {
        case "apns" -> apns = new ApnsToken(row.token(), row.environment(), row.registeredAt());
        case "fcm" -> fcm = new FcmToken(row.token(), row.kind(), row.registeredAt());
        default -> {
          // Web Push subscriptions are kept for a later version.
        }
      }
    }
    return new Recipient(device, rows.getFirst().mqtt(), apns, fcm);
  }

  /// A device with one of its tokens, if any. A topic may still name a device that is gone.
  private record Row(
      boolean exists,
      boolean mqtt,
      @Nullable String channel,
      @Nullable String token,
      String kind,
      String environment,
      @Nullable Instant registeredAt) {
    static Row of(ResultSet row) throws SQLException {
      boolean mqtt = row.getBoolean("mqtt");
      boolean exists = !row.wasNull();
      LocalDateTime registeredAt = row.getObject("registered_at", LocalDateTime.class);
      return new Row(
          exists,
          mqtt,
          row.getString("channel"),
          row.getString("token"),
          orEmpty(row.getString("kind")),
          orEmpty(row.getString("environment")),
          registeredAt == null ? null : registeredAt.toInstant(ZoneOffset.UTC));
    }

    private static String orEmpty(@Nullable String text) {
      return text == null ? "" : text;
    }
  }
}
