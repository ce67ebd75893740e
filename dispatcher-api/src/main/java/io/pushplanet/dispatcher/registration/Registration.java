package io.pushplanet.dispatcher.registration;

import io.pushplanet.common.device.Platform;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The registration of a device, as its app gives it.
///
/// @param tags null leaves them as they are
/// @param topics null leaves them as they are
public record Registration(
    Platform platform,
    Channels channels,
    @Nullable String user,
    @Nullable String locale,
    @Nullable String timezone,
    @Nullable List<String> tags,
    @Nullable List<String> topics,
    @Nullable String appVersion) {
  /// The ways on which the device can be reached.
  public record Channels(
      boolean mqtt,
      @Nullable Token apns,
      @Nullable Token fcm,
      @Nullable Token hms,
      @Nullable Token webpush) {}

  /// A token of a vendor's channel.
  ///
  /// @param kind `token` or `fid` for FCM, the kind of an
  ///     [io.pushplanet.common.message.target.ApnsPushType] for APNs, `token` for HMS,
  ///     `subscription` for Web Push
  /// @param environment `production` or `sandbox`
  public record Token(String token, String kind, String environment) {
    @Override
    public String toString() {
      return "Token[***, " + kind + ", " + environment + "]";
    }
  }
}
