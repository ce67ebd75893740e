package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Which way a message takes when its first channel fails: another channel, the inbox, or none.
class OtherWaysIT extends DeliveryScene {
  @Test
  void an_absent_device_gets_its_vendor_or_else_the_inbox() throws Exception {
    Push push = aPush(clock).from(APP).toMqtt("d1").build();
    Recipient both = both("d2", "t2");

    servers.register(APP, "d1");
    deliver(Channel.MQTT, push, push.to(List.of(both)));

    assertThat(inbox()).containsExactly("d1");
    assertThat(servers.drain("push.fcm.high", Push.class))
        .singleElement()
        .satisfies(fallback -> {
          assertThat(fallback.recipients()).containsExactly(both);
          assertThat(fallback.tried()).containsExactly(Channel.MQTT);
        });
  }

  @Test
  void a_message_for_an_absent_device_is_parked_once() {
    servers.register(APP, "away");
    byte[] batch = batch(aPush(clock).from(APP).toMqtt("away").build());

    delivery.deliver(Channel.MQTT, batch, false, Ticket.ofNoOrder());
    delivery.deliver(Channel.MQTT, batch, true, Ticket.ofNoOrder());

    assertThat(inbox()).containsExactly("away");
  }

  @Test
  void nothing_is_parked_while_redis_is_away() {
    RedisClient nowhere = RedisClient.create("redis://127.0.0.1:1");
    try (RedisLink away = RedisLink.open(nowhere)) {
      DeliveryForTests.at(servers, nodes, routes, clock, meters)
          .directory(new SessionDirectory(away, clock))
          .build()
          .deliver(
              Channel.MQTT,
              batch(aPush(clock).from(APP).toMqtt("here").build()),
              false,
              Ticket.ofNoOrder());
    } finally {
      nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    }

    assertThat(inbox()).isEmpty();
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly(NodeDelivery.DIRECTORY_UNAVAILABLE);
  }

  @Test
  void the_inbox_keeps_the_newest_of_a_collapse_key_and_reports_the_others() throws Exception {
    DeliveryOptions collapsing = options(Route.MQTT, Duration.ofHours(1), "score");
    Push older = aPush(clock).from(APP).delivered(collapsing).toMqtt("d1").build();
    Push newer = newerThan(older, collapsing);
    servers.register(APP, "d1");

    deliver(Channel.MQTT, newer);
    deliver(Channel.MQTT, older);
    deliver(Channel.MQTT, newer);

    assertThat(servers.sql().queryForList("SELECT message_id FROM inbox", String.class))
        .containsExactly(newer.id().value());
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.message()).isEqualTo(older.id());
          assertThat(ended.attempt().reason()).isEqualTo("collapsed");
        });
  }

  private Push newerThan(Push older, DeliveryOptions options) {
    Push newer =
        aPush(clock)
            .from(APP)
            .delivered(options)
            .toMqtt("d1")
            .saying(new Content("newer", null, Map.of()))
            .build();
    while (newer.id().compareTo(older.id()) < 0) {
      newer = aPush(clock).from(APP).delivered(options).toMqtt("d1").build();
    }
    return newer;
  }

  @Test
  void now_or_never_is_never_when_the_device_is_away() throws Exception {
    deliver(
        Channel.MQTT,
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ZERO, null))
            .toMqtt("d1")
            .build());

    assertThat(inbox()).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED));
  }

  @Test
  void a_dead_token_of_a_device_with_mqtt_leads_to_its_inbox() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant()));
    Recipient both = both("d1", "t");

    deliver(Channel.FCM, aPush(clock).from(APP).build().to(List.of(both)));

    assertThat(servers.drain("push.mqtt.high", Push.class))
        .singleElement()
        .satisfies(push -> assertThat(push.tried()).containsExactly(Channel.FCM));
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void a_disconnected_device_with_a_dead_token_gets_the_message_from_its_inbox() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant()));
    Recipient both = both("d1", "t");

    deliver(Channel.MQTT, servers.registered(aPush(clock).from(APP).build().to(List.of(both))));
    deliver(Channel.FCM, servers.drain("push.fcm.high", Push.class).getFirst());
    Push last = servers.drain("push.mqtt.high", Push.class).getFirst();
    deliver(Channel.MQTT, last);

    assertThat(last.tried()).containsExactly(Channel.MQTT, Channel.FCM);
    assertThat(inbox()).containsExactly("d1");
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void a_message_that_a_vendor_refuses_still_reaches_a_device_with_mqtt() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.Rejected(0, "no_credential"));
    Recipient both = both("d1", "t");

    deliver(Channel.FCM, aPush(clock).from(APP).build().to(List.of(both)));

    assertThat(servers.drain("push.mqtt.high", Push.class)).hasSize(1);
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
  }

  @Test
  void a_channel_without_a_provider_fails_and_says_so() throws Exception {
    deliver(
        Channel.WEBPUSH,
        aPush(clock)
            .from(APP)
            .toFcm("d1", "t")
            .delivered(options(Route.VENDOR, Duration.ofHours(1), null))
            .build());

    assertThat(servers.drain("push.fcm.high", Push.class)).hasSize(1);
    assertThat(events(DeliveryEvent.Attempted.class))
        .extracting(attempted -> attempted.attempt().reason())
        .containsExactly("channel_not_available");
  }

  /// A device with MQTT and FCM.
  private Recipient both(String device, String token) {
    return recipient(new DeviceId(device), true, new FcmToken(token, "token", clock.instant()));
  }

  /// The devices with parked messages.
  private List<String> inbox() {
    return servers.sql().queryForList("SELECT device_id FROM inbox", String.class);
  }
}
