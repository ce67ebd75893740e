package io.pushplanet.gateway.fanout;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.message.target.WebPushSubscription;
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

/// Reads the devices of an audience from MySQL by keyset ([AudienceQuery]): each page starts after the last candidate of the one
/// before.
final class AudienceDevices {
  private final JdbcTemplate database;

  AudienceDevices(JdbcTemplate database) {
    this.database = database;
  }

  DevicePage after(AppId app, Audience audience, @Nullable DeviceId after, int pageSize) {
    var query = AudienceQuery.page(app, audience, after == null ? "" : after.value(), pageSize);
    Map<DeviceId, List<Row>> devices = new LinkedHashMap<>();
    database.query(
        query.sql(),
        row -> {
          devices
              .computeIfAbsent(new DeviceId(row.getString("device_id")), id -> new ArrayList<>())
              .add(Row.of(row));
        },
        query.arguments().toArray());
    List<Recipient> recipients = new ArrayList<>();
    DeviceId last = null;
    for (Map.Entry<DeviceId, List<Row>> device : devices.entrySet()) {
      last = device.getKey();
      if (device.getValue().getFirst().wanted()) {
        Recipient recipient = recipient(device.getKey(), device.getValue());
        if (audience instanceof Audience.Devices || !recipient.onlyForNamed()) {
          recipients.add(recipient);
        }
      }
    }
    return new DevicePage(recipients, devices.size() < pageSize ? null : last);
  }

  private static Recipient recipient(DeviceId device, List<Row> rows) {
    ApnsToken apns = null;
    FcmToken fcm = null;
    WebPushSubscription webpush = null;
    HmsToken hms = null;
    for (Row row : rows) {
      if (row.token() == null || row.channel() == null || row.registeredAt() == null) {
        continue;
      }
      switch (row.channel()) {
        case "apns" -> apns = apns(row, row.token(), row.registeredAt());
        case "fcm" -> fcm = new FcmToken(row.token(), row.kind(), row.registeredAt());
        case "hms" -> hms = new HmsToken(row.token(), row.registeredAt());
        case "webpush" -> webpush = new WebPushSubscription(row.token(), row.registeredAt());
        default -> {
          // A channel of a newer version.
        }
      }
    }
    Row first = rows.getFirst();
    return new Recipient(device, first.mqtt(), apns, fcm, webpush, hms, platform(first));
  }

  private static @Nullable Platform platform(Row row) {
    return switch (row.platform()) {
      case "ios" -> Platform.IOS;
      case "web" -> Platform.WEB;
      default -> null;
    };
  }

  private static @Nullable ApnsToken apns(Row row, String token, Instant registeredAt) {
    return ApnsPushType.ofKind(row.kind())
        .map(type -> new ApnsToken(token, row.environment(), registeredAt, type))
        .orElse(null);
  }

  /// A device with one of its tokens, if any. A topic may still name a device that is gone.
  private record Row(
      boolean wanted,
      boolean mqtt,
      String platform,
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
          exists && row.getBoolean("wanted"),
          mqtt,
          orEmpty(row.getString("platform")),
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
