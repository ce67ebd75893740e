package io.pushplanet.common.message.target;

import static io.pushplanet.common.delivery.Channel.APNS;
import static io.pushplanet.common.delivery.Channel.FCM;
import static io.pushplanet.common.delivery.Channel.HMS;
import static io.pushplanet.common.delivery.Channel.MQTT;
import static io.pushplanet.common.delivery.Channel.WEBPUSH;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecipientTest {
  private static final Instant AT = Instant.parse("2026-11-21T10:00:00Z");
  private static final ApnsToken APNS_TOKEN = new ApnsToken("ab", "production", AT);
  private static final FcmToken FCM_TOKEN = new FcmToken("t", "token", AT);
  private static final DeviceId D1 = new DeviceId("d1");

  private final Recipient both = new Recipient(D1, true, null, FCM_TOKEN, null, null, null);
  private final Recipient mqttOnly = new Recipient(D1, true, null, null, null, null, null);
  private final Recipient vendorOnly =
      new Recipient(D1, false, APNS_TOKEN, FCM_TOKEN, null, null, null);

  @Test
  void auto_takes_mqtt_while_the_device_is_connected_and_the_vendor_otherwise() {
    assertThat(both.channel(Route.AUTO, true, List.of())).contains(MQTT);
    assertThat(both.channel(Route.AUTO, false, List.of())).contains(FCM);
    assertThat(vendorOnly.channel(Route.AUTO, false, List.of())).contains(APNS);
    assertThat(vendorOnly.channel(Route.AUTO, true, List.of())).contains(APNS);
  }

  @Test
  void auto_leaves_a_device_without_a_vendor_to_the_inbox() {
    assertThat(mqttOnly.channel(Route.AUTO, false, List.of())).contains(MQTT);
    assertThat(both.channel(Route.AUTO, false, List.of(FCM))).contains(MQTT);
    assertThat(both.channel(Route.AUTO, false, List.of(MQTT, FCM))).contains(MQTT);
    assertThat(vendorOnly.channel(Route.AUTO, false, List.of(APNS, FCM))).isEmpty();
  }

  @Test
  void only_the_service_behind_fcm_travels_of_the_platform() {
    Recipient iphone = route(Platform.IOS, FCM_TOKEN).recipient();

    assertThat(WireForm.read(WireForm.write(iphone), Recipient.class)).isEqualTo(iphone);
    assertThat(iphone.behindFcm()).isEqualTo(Platform.IOS);
    assertThat(route(Platform.WEB, FCM_TOKEN).recipient().behindFcm()).isEqualTo(Platform.WEB);
    assertThat(route(Platform.ANDROID, FCM_TOKEN).recipient().behindFcm()).isNull();
    assertThat(route(Platform.IOS, null).recipient().behindFcm()).isNull();
  }

  private static DeviceRoute route(Platform platform, @Nullable FcmToken fcm) {
    return new DeviceRoute(D1, platform, true, null, fcm, null, null);
  }

  @Test
  void a_browser_is_reached_over_web_push() {
    Recipient browser =
        new Recipient(D1, true, null, null, new WebPushSubscription("{}", AT), null, null);

    assertThat(browser.channel(Route.AUTO, false, List.of())).contains(WEBPUSH);
    assertThat(browser.channel(Route.VENDOR, true, List.of())).contains(WEBPUSH);
    assertThat(browser.channel(Route.VENDOR, true, List.of(WEBPUSH))).isEmpty();
  }

  @Test
  void a_phone_without_googles_services_is_reached_over_huaweis() {
    HmsToken token = new HmsToken("h", AT);
    Recipient huawei = new Recipient(D1, true, null, null, null, token, null);
    Recipient withBoth = new Recipient(D1, true, null, FCM_TOKEN, null, token, null);

    assertThat(huawei.channel(Route.AUTO, false, List.of())).contains(HMS);
    assertThat(withBoth.channel(Route.VENDOR, false, List.of())).contains(FCM);
    assertThat(withBoth.channel(Route.VENDOR, false, List.of(FCM))).contains(HMS);
    assertThat(withBoth.channel(Route.VENDOR, false, List.of(FCM, HMS))).isEmpty();
  }

  @Test
  void a_channel_that_was_given_up_is_not_tried_again() {
    assertThat(both.channel(Route.AUTO, true, List.of(MQTT))).contains(FCM);
    assertThat(both.channel(Route.MQTT, true, List.of(MQTT))).isEmpty();
    assertThat(vendorOnly.channel(Route.VENDOR, false, List.of(APNS))).contains(FCM);
  }

  @Test
  void a_named_route_takes_no_other_way() {
    assertThat(both.channel(Route.MQTT, false, List.of())).contains(MQTT);
    assertThat(both.channel(Route.VENDOR, true, List.of())).contains(FCM);
    assertThat(mqttOnly.channel(Route.VENDOR, true, List.of())).isEmpty();
    assertThat(vendorOnly.channel(Route.MQTT, false, List.of())).isEmpty();
  }

  @Test
  void a_device_without_any_way_has_no_channel_on_any_route() {
    Recipient none = new Recipient(D1, false, null, null, null, null, null);

    for (Route route : Route.values()) {
      assertThat(none.channel(route, true, List.of())).isEmpty();
    }
  }
}
