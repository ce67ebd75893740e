package io.pushplanet.common.message.target;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.Route;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One device of a message with its channels; or a channel of Live Activities or topics of
/// Firebase, which stand in a device's place.
///
/// @param mqtt whether the device uses our own channel
/// @param behindFcm the service to which FCM passes a message on, `ios` or `web`; null where it is
///     Google's own, and from a process of an older version
/// @param user the device's user when the device was found, where the message is for this user;
///     null where the message is for the device under any user, and from a process of an older
///     version
public record Recipient(
    DeviceId device,
    boolean mqtt,
    @Nullable ApnsToken apns,
    @Nullable FcmToken fcm,
    @Nullable WebPushSubscription webpush,
    @Nullable HmsToken hms,
    @Nullable Platform behindFcm,
    @Nullable String user) {
  public Recipient {
    boolean elsewhere = behindFcm == Platform.IOS || behindFcm == Platform.WEB;
    behindFcm = fcm != null && elsewhere ? behindFcm : null;
  }

  /// A recipient under any user.
  public Recipient(
      DeviceId device,
      boolean mqtt,
      @Nullable ApnsToken apns,
      @Nullable FcmToken fcm,
      @Nullable WebPushSubscription webpush,
      @Nullable HmsToken hms,
      @Nullable Platform behindFcm) {
    this(device, mqtt, apns, fcm, webpush, hms, behindFcm, null);
  }

  /// @param user null for any user
  public Recipient of(@Nullable String user) {
    return new Recipient(device, mqtt, apns, fcm, webpush, hms, behindFcm, user);
  }

  /// A vendor's address of the device.
  ///
  /// @param text a token, or the JSON of a subscription
  public record Registered(String text, Instant registeredAt) {
    @Override
    public String toString() {
      return "Registered[***, " + registeredAt + "]";
    }
  }

  /// Of a vendor's channel; empty for MQTT, which has sessions.
  public Optional<Registered> token(Channel channel) {
    return Optional.ofNullable(
        switch (channel) {
          case APNS -> apns == null ? null : new Registered(apns.token(), apns.registeredAt());
          case FCM -> fcm == null ? null : new Registered(fcm.token(), fcm.registeredAt());
          case HMS -> hms == null ? null : new Registered(hms.token(), hms.registeredAt());
          case WEBPUSH ->
              webpush == null ? null : new Registered(webpush.json(), webpush.registeredAt());
          case MQTT -> null;
        });
  }

  /// Whether it is a device. Nothing else is registered, and a vendor's answer about anything else
  /// says nothing about tokens.
  public boolean namesDevice() {
    return (fcm == null || fcm.namesDevice()) && !ActivityChannelId.isValid(device.value());
  }

  /// Whether it takes only messages that name this device: a call makes the phone ring, and a
  /// message to a topic must not.
  public boolean onlyForNamed() {
    return apns != null && apns.type() != ApnsPushType.ALERT;
  }

  /// The vendor's channel in place of MQTT, in the order APNs, FCM, HMS, Web Push; none of `tried`.
  public Optional<Channel> vendor(Collection<Channel> tried) {
    if (apns != null && !tried.contains(Channel.APNS)) {
      return Optional.of(Channel.APNS);
    }
    if (fcm != null && !tried.contains(Channel.FCM)) {
      return Optional.of(Channel.FCM);
    }
    if (hms != null && !tried.contains(Channel.HMS)) {
      return Optional.of(Channel.HMS);
    }
    if (webpush != null && !tried.contains(Channel.WEBPUSH)) {
      return Optional.of(Channel.WEBPUSH);
    }
    return Optional.empty();
  }

  /// The channel to try next, or empty when no channel leads to the device. `auto`: MQTT while the
  /// device is connected, else the vendor's channel, else MQTT, even if it was tried: its inbox
  /// keeps the message.
  public Optional<Channel> channel(Route route, boolean connected, Collection<Channel> tried) {
    boolean overMqtt = mqtt && !tried.contains(Channel.MQTT);
    Optional<Channel> own = overMqtt ? Optional.of(Channel.MQTT) : Optional.empty();
    return switch (route) {
      case MQTT -> own;
      case VENDOR -> vendor(tried);
      case AUTO ->
          overMqtt && connected
              ? own
              : vendor(tried).or(() -> mqtt ? Optional.of(Channel.MQTT) : Optional.empty());
    };
  }
}
