package io.pushplanet.common.message.target;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.Route;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// One device of a message with the ways that lead to it; or a channel of Live Activities or topics of Firebase's, which stand in
/// a device's place.
///
/// @param mqtt whether the device uses our own channel
/// @param behindFcm whose service FCM passes a message on to, `ios` or `web`; null where it is Google's own, and from a
///     process that does not tell it yet
/// @param user who had the device when it was found, where the message is for it only because of them; null where it is for the
///     device whoever has it, and from a process that does not tell it yet
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

  /// One whoever has it.
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

  /// @param user null for whoever has the device
  public Recipient of(@Nullable String user) {
    return new Recipient(device, mqtt, apns, fcm, webpush, hms, behindFcm, user);
  }

  /// What a vendor knows the device by.
  ///
  /// @param text a token, or the JSON of a subscription
  public record Registered(String text, Instant registeredAt) {
    @Override
    public String toString() {
      return "Registered[***, " + registeredAt + "]";
    }
  }

  /// Of a vendor's channel; none of MQTT, which has sessions.
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

  /// Whether it is a device. Nothing else is registered, and what a vendor says of anything else says nothing of tokens.
  public boolean namesDevice() {
    return (fcm == null || fcm.namesDevice()) && !ActivityChannelId.isValid(device.value());
  }

  /// Whether only messages that name this device are for it: a call rings, and not for what a topic is told.
  public boolean onlyForNamed() {
    return apns != null && apns.type() != ApnsPushType.ALERT;
  }

  /// The vendor's channel to use when MQTT is not, in the order APNs, FCM, HMS, Web Push; none of `tried`.
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

  /// The channel to try next, or none when no way leads to the device. `auto`: MQTT while the device is connected, else the
  /// vendor's channel, else MQTT, also again: its inbox keeps the message.
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
