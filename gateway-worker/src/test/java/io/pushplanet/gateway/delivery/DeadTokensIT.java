package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// What happens to a token that its provider calls dead.
class DeadTokensIT extends DeliveryScene {
  @Test
  void a_token_that_the_provider_calls_gone_is_forgotten_unless_it_was_registered_again()
      throws Exception {
    registered("d1", "apns", "token", "old-token", clock.instant().minusSeconds(3_600));
    registered("d2", "apns", "token", "new-token", clock.instant());
    Instant since = clock.instant().minusSeconds(60);
    apns.answers.put("d1", new DeliveryOutcome.TokenGone(410, "Unregistered", since));
    apns.answers.put("d2", new DeliveryOutcome.TokenGone(410, "Unregistered", since));

    deliver(
        Channel.APNS,
        aPush(clock).from(APP).toApns("d1", "old-token").toApns("d2", "new-token").build());

    assertThat(forgotten()).containsExactly("d1");
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.attempt().action())
        .containsExactlyInAnyOrder("token forgotten", "token kept: registered again since");
  }

  /// The message was addressed to a production token, but the token is not one.
  @Test
  void a_token_that_was_registered_again_is_not_forgotten() throws Exception {
    registered("d1", "apns", "token", "t1", clock.instant().plusSeconds(60));
    Push push = aPush(clock).from(APP).toApns("d1", "t1").build();
    clock.advance(Duration.ofSeconds(120));
    apns.answers.put("d1", new DeliveryOutcome.TokenForeign(400, "BadDeviceToken"));
    apns.answers.put("d2", new DeliveryOutcome.Accepted(200, "", "proves the credential"));
    deliver(Channel.APNS, aPush(clock).from(APP).toApns("d2", "t2").build());

    deliver(Channel.APNS, push);

    assertThat(forgotten()).isEmpty();
  }

  @Test
  void a_message_to_a_token_that_was_replaced_goes_to_the_new_one() throws Exception {
    registered("d1", "apns", "token", "new", clock.instant().plusSeconds(1));
    var gone = new DeliveryOutcome.TokenGone(410, "Unregistered", clock.instant());
    apns.answers.put("old", gone);
    Push push = aPush(clock).from(APP).toApns("d1", "old").build();

    deliver(Channel.APNS, push);

    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();
    String waiting = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    delivery.deliver(
        Channel.APNS,
        String.valueOf(waiting).getBytes(StandardCharsets.UTF_8),
        false,
        Ticket.ofNoOrder());
    assertThat(apns.tokens).containsExactly("old", "new");
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .extracting(DeliveryEvent.Ended::state)
        .isEqualTo(DeliveryState.DELIVERED);
    assertThat(forgotten()).isEmpty();
  }

  /// firebase/firebase-js-sdk#10212: an installation that moves from a token to an installation id
  /// loses the former, and its senders are told `UNREGISTERED`.
  @Test
  void firebase_js_sdk_10212_an_installation_id_outlives_the_token_that_it_replaced()
      throws Exception {
    registered("d1", "fcm", "fid", "installation", clock.instant().plusSeconds(1));
    fcm.answers.put("old", new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant()));
    Push push = aPush(clock).from(APP).toFcm("d1", "old").build();

    deliver(Channel.FCM, push);
    String waiting = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    delivery.deliver(
        Channel.FCM,
        String.valueOf(waiting).getBytes(StandardCharsets.UTF_8),
        false,
        Ticket.ofNoOrder());

    assertThat(fcm.tokens).containsExactly("old", "installation");
    assertThat(fcm.kinds).containsExactly("token", "fid");
    assertThat(forgotten()).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .extracting(DeliveryEvent.Ended::state)
        .isEqualTo(DeliveryState.DELIVERED);
  }

  /// DocNR/clave#14: only a 410 cost a token there, and bad ones were asked for every day.
  @Test
  void clave_14_a_token_that_apple_calls_bad_is_forgotten_like_one_that_is_gone() throws Exception {
    registered("bad", "apns", "token", "t1", clock.instant().minusSeconds(60));
    registered("elsewhere", "apns", "token", "t2", clock.instant().minusSeconds(60));
    apns.answers.put("bad", new DeliveryOutcome.TokenForeign(400, "BadDeviceToken"));
    apns.answers.put("elsewhere", new DeliveryOutcome.TokenForeign(400, "DeviceTokenNotForTopic"));

    // More accepted messages than bad tokens prove the credential.
    for (int i = 0; i < 5; i++) {
      deliver(Channel.APNS, aPush(clock).from(APP).toApns("good" + i, "good" + i).build());
    }
    deliver(
        Channel.APNS, aPush(clock).from(APP).toApns("bad", "t1").toApns("elsewhere", "t2").build());

    assertThat(forgotten()).containsExactlyInAnyOrder("bad", "elsewhere");
  }

  @Test
  void messages_that_were_not_sent_do_not_hide_that_too_many_tokens_die() throws Exception {
    IntStream.range(0, 100)
        .forEach(i ->
            fcm.answers.put(
                "off" + i, new DeliveryOutcome.TryAgain(0, "project_quota_rest", null, false)));
    var gone = new DeliveryOutcome.TokenGone(404, "UNREGISTERED", clock.instant());
    IntStream.range(0, 11).forEach(i -> fcm.answers.put("dead" + i, gone));
    fcm.answers.put("last0", gone);

    deliver(Channel.FCM, toFcm("good", 188));
    deliver(Channel.FCM, toFcm("off", 100));
    deliver(Channel.FCM, toFcm("dead", 11));
    deliver(Channel.FCM, toFcm("last", 1));

    assertThat(meters.get("pushplanet.tokens").tag("result", "spared").counter().count())
        .isEqualTo(1);
  }

  private Push toFcm(String devices, int count) {
    PushBuilder push = aPush(clock).from(APP);
    IntStream.range(0, count).forEach(i -> push.toFcm(devices + i, "token-" + devices + i));
    return push.build();
  }

  @Test
  void a_route_that_was_left_behind_by_a_registration_is_forgotten_with_its_dead_token()
      throws Exception {
    DeviceKey device = new DeviceKey(new AppId(APP), new DeviceId("d1"));
    ApnsToken former = new ApnsToken("old-token", "production", clock.instant());
    routes.put(
        Map.of(
            device,
            new DeviceRoute(device.device(), Platform.IOS, false, former, null, null, null)));
    registered("d1", "apns", "token", "new-token", clock.instant());
    apns.answers.put("d1", new DeliveryOutcome.TokenGone(410, "Unregistered", clock.instant()));

    deliver(Channel.APNS, aPush(clock).from(APP).toApns("d1", "old-token").build());

    assertThat(routes.find(List.of(device))).isEmpty();
  }

  @Test
  void a_subscription_that_is_gone_is_forgotten_unless_the_browser_made_another() throws Exception {
    Instant asked = clock.instant();
    ScriptedProvider webpush = new ScriptedProvider(Channel.WEBPUSH);
    for (String device : List.of("d1", "d2", "d3")) {
      webpush.answers.put(device, new DeliveryOutcome.TokenGone(410, "http_410", asked));
    }
    registered("d1", "webpush", "subscription", "{\"a\":1}", asked.minusSeconds(60));
    registered("d2", "webpush", "subscription", "{\"a\":\"another\"}", asked.minusSeconds(60));
    registered("d3", "webpush", "subscription", "{\"a\":1}", asked.plusSeconds(1));

    Push push =
        aPush(clock)
            .from(APP)
            .toWebPush("d1", "{\"a\":1}")
            .toWebPush("d2", "{\"a\":1}")
            .toWebPush("d3", "{\"a\":1}")
            .build();
    delivery(webpush).deliver(Channel.WEBPUSH, batch(push), false, Ticket.ofNoOrder());

    assertThat(forgotten()).containsExactly("d1");
  }

  /// The devices whose token is dead.
  private List<String> forgotten() {
    return servers
        .sql()
        .queryForList(
            "SELECT device_id FROM channel_tokens WHERE dead_at IS NOT NULL", String.class);
  }
}
