package io.pushplanet.dispatcher.push;

import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class LaneChoiceTest {
  private static final FcmToken TOKEN = new FcmToken("t", "token", Instant.EPOCH);
  private static final Recipient BOTH = recipient(new DeviceId("d"), true, TOKEN);
  private static final Recipient MQTT = recipient(new DeviceId("d"), true, null);
  private static final Recipient FCM = recipient(new DeviceId("d"), false, TOKEN);
  private static final Recipient NONE = recipient(new DeviceId("d"), false, null);

  @Test
  void auto_prefers_the_connection_then_the_vendor_then_the_inbox() {
    assertThat(LaneChoice.first(BOTH, Route.AUTO, true)).contains(Channel.MQTT);
    assertThat(LaneChoice.first(BOTH, Route.AUTO, false)).contains(Channel.FCM);
    assertThat(LaneChoice.first(MQTT, Route.AUTO, false)).contains(Channel.MQTT);
    assertThat(LaneChoice.first(FCM, Route.AUTO, true)).contains(Channel.FCM);
  }

  @Test
  void a_forced_route_takes_no_other_way() {
    assertThat(LaneChoice.first(BOTH, Route.MQTT, false)).contains(Channel.MQTT);
    assertThat(LaneChoice.first(FCM, Route.MQTT, true)).isEmpty();
    assertThat(LaneChoice.first(BOTH, Route.VENDOR, true)).contains(Channel.FCM);
    assertThat(LaneChoice.first(MQTT, Route.VENDOR, true)).isEmpty();
  }

  @Test
  void without_any_way_there_is_none() {
    for (Route route : Route.values()) {
      assertThat(LaneChoice.first(NONE, route, true)).isEmpty();
    }
  }
}
