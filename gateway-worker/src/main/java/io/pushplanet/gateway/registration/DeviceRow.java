package io.pushplanet.gateway.registration;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.target.DeviceTokens;
import io.pushplanet.common.message.target.Recipient;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A row of `devices` beside one of the device's living tokens in `channel_tokens`, as an outer
/// join returns it: a device without tokens has one row, a device with two tokens has two, and a
/// deleted device has nulls.
///
/// @param exists whether the device does
public record DeviceRow(
    boolean exists,
    boolean mqtt,
    String platform,
    @Nullable String channel,
    @Nullable String token,
    String kind,
    String environment,
    @Nullable Instant registeredAt)
    implements DeviceTokens.Row {
  /// Of `devices d` and `channel_tokens t`.
  public static final String COLUMNS =
      "d.mqtt, d.platform, t.channel, t.token, t.kind, t.environment, t.registered_at";

  /// @param row has [#COLUMNS]
  public static DeviceRow of(ResultSet row) throws SQLException {
    boolean mqtt = row.getBoolean("mqtt");
    boolean exists = !row.wasNull();
    LocalDateTime registeredAt = row.getObject("registered_at", LocalDateTime.class);
    return new DeviceRow(
        exists,
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

  /// @param rows all of one device, at least one
  public static Recipient recipient(DeviceId device, List<DeviceRow> rows) {
    DeviceTokens tokens = DeviceTokens.of(rows);
    DeviceRow first = rows.getFirst();
    return new Recipient(
        device,
        first.mqtt,
        tokens.apns(),
        tokens.fcm(),
        tokens.webpush(),
        tokens.hms(),
        platform(first));
  }

  private static @Nullable Platform platform(DeviceRow row) {
    return switch (row.platform) {
      case "ios" -> Platform.IOS;
      case "web" -> Platform.WEB;
      default -> null;
    };
  }
}
