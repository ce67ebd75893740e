package io.pushplanet.common.testing;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.message.target.WebPushSubscription;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// `aPush(clock).toMqtt("d1").build()`
public final class PushBuilder {
  private static final MessageIds IDS = new MessageIds(Clock.systemUTC(), new Random());

  private final Clock clock;
  private final List<Recipient> recipients = new ArrayList<>();
  private AppId app = new AppId("shop");
  private Content content = new Content("Shipped", "Order 77 is on its way", Map.of("order", "77"));
  private DeliveryOptions delivery = DeliveryOptions.DEFAULT;
  private @Nullable String user;

  private PushBuilder(Clock clock) {
    this.clock = clock;
  }

  public static PushBuilder aPush(Clock clock) {
    return new PushBuilder(clock);
  }

  /// A device whose only channels are our own, Google's, or both.
  public static Recipient recipient(DeviceId device, boolean mqtt, @Nullable FcmToken fcm) {
    return new Recipient(device, mqtt, null, fcm, null, null, null);
  }

  public PushBuilder from(String appId) {
    this.app = new AppId(appId);
    return this;
  }

  public PushBuilder saying(Content words) {
    this.content = words;
    return this;
  }

  public PushBuilder delivered(DeliveryOptions options) {
    this.delivery = options;
    return this;
  }

  /// For devices found by their user.
  public PushBuilder forUser(String name) {
    this.user = name;
    return this;
  }

  public PushBuilder toMqtt(String device) {
    recipients.add(recipient(new DeviceId(device), true, null));
    return this;
  }

  public PushBuilder toApns(String device, String token) {
    return toApns(device, token, ApnsPushType.ALERT);
  }

  public PushBuilder toApns(String device, String token, ApnsPushType type) {
    ApnsToken apns = new ApnsToken(token, "production", clock.instant(), type);
    recipients.add(new Recipient(new DeviceId(device), false, apns, null, null, null, null));
    return this;
  }

  public PushBuilder toFcm(String device, String token) {
    recipients.add(
        recipient(new DeviceId(device), false, new FcmToken(token, "token", clock.instant())));
    return this;
  }

  /// @param kind `topic` or `condition`
  public PushBuilder toFollowers(String recipient, String kind, String text) {
    recipients.add(
        recipient(new DeviceId(recipient), false, new FcmToken(text, kind, Instant.EPOCH)));
    return this;
  }

  public PushBuilder toHms(String device, String token) {
    HmsToken hms = new HmsToken(token, clock.instant());
    recipients.add(new Recipient(new DeviceId(device), false, null, null, null, hms, null));
    return this;
  }

  /// @param subscription its JSON
  public PushBuilder toWebPush(String device, String subscription) {
    WebPushSubscription webpush = new WebPushSubscription(subscription, clock.instant());
    recipients.add(new Recipient(new DeviceId(device), false, null, null, webpush, null, null));
    return this;
  }

  public Push build() {
    return Push.accepted(IDS.next(), app, content, delivery, Overrides.NONE, clock.instant(), null)
        .to(recipients.stream().map(recipient -> recipient.of(user)).toList());
  }

  public static Push withOverrides(Push push, Overrides overrides) {
    return Push.accepted(
            push.id(),
            push.app(),
            push.content(),
            push.delivery(),
            overrides,
            push.acceptedAt(),
            push.traceparent())
        .to(push.recipients());
  }
}
