package io.pushplanet.common.message.target;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tokens of one device, at most one for each vendor's channel.
public record DeviceTokens(
    @Nullable ApnsToken apns,
    @Nullable FcmToken fcm,
    @Nullable WebPushSubscription webpush,
    @Nullable HmsToken hms) {
  /// A row of `channel_tokens`, as an outer join has it: all columns are null for a device without
  /// tokens.
  public interface Row {
    @Nullable String channel();

    @Nullable String token();

    @Nullable String kind();

    @Nullable String environment();

    @Nullable Instant registeredAt();
  }

  /// Leaves out channels and kinds that only a newer version knows.
  ///
  /// @param rows all rows of one device whose tokens are not dead
  public static DeviceTokens of(List<? extends Row> rows) {
    ApnsToken apns = null;
    FcmToken fcm = null;
    WebPushSubscription webpush = null;
    HmsToken hms = null;
    for (Row row : rows) {
      String channel = row.channel();
      String token = row.token();
      String kind = row.kind();
      String environment = row.environment();
      Instant registeredAt = row.registeredAt();
      if (channel == null
          || token == null
          || kind == null
          || environment == null
          || registeredAt == null) {
        continue;
      }
      switch (channel) {
        case "apns" -> apns = apns(token, kind, environment, registeredAt);
        case "fcm" -> fcm = new FcmToken(token, kind, registeredAt);
        case "webpush" -> webpush = new WebPushSubscription(token, registeredAt);
        case "hms" -> hms = new HmsToken(token, registeredAt);
        default -> {
          // A channel of a newer version.
        }
      }
    }
    return new DeviceTokens(apns, fcm, webpush, hms);
  }

  private static @Nullable ApnsToken apns(
      String token, String kind, String environment, Instant registeredAt) {
    return ApnsPushType.ofKind(kind)
        .map(type -> new ApnsToken(token, environment, registeredAt, type))
        .orElse(null);
  }
}
