package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.nio.charset.StandardCharsets;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DeliveryIT extends DeliveryScene {
  @Test
  void a_message_that_the_provider_accepts_is_delivered() throws Exception {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").toFcm("d2", "t2").build());

    assertThat(events(DeliveryEvent.Ended.class))
        .hasSize(2)
        .allSatisfy(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED);
          assertThat(ended.attempt().providerId()).isEqualTo("provider-id");
        });
  }

  @Test
  void the_wait_in_the_queue_and_the_whole_way_are_timed() {
    Push push = servers.registered(aPush(clock).from(APP).toFcm("d1", "t1").build());
    clock.advance(Duration.ofSeconds(2));

    deliver(Channel.FCM, push);
    deliver(Channel.FCM, push.retried());
    deliver(Channel.FCM, push.putOff());

    Timer wait = meters.get("pushplanet.queue.wait").tag("lane", "push.fcm.high").timer();
    assertThat(wait.count()).isEqualTo(1);
    assertThat(wait.totalTime(TimeUnit.SECONDS)).isEqualTo(2);
    Timer whole =
        meters
            .get("pushplanet.accept.to.outcome")
            .tags("channel", "fcm", "priority", "high", "result", "delivered")
            .timer();
    assertThat(whole.count()).isEqualTo(3);
  }

  /// zulip/zulip#13518: a retry holds up new messages.
  @Test
  void zulip_13518_messages_to_be_repeated_wait_in_later_and_hold_no_place() throws Exception {
    PushBuilder many = aPush(clock).from(APP);
    for (int i = 0; i < 100; i++) {
      fcm.answers.put("slow" + i, new DeliveryOutcome.TryAgain(0, "timeout", null, true));
      many.toFcm("slow" + i, "t" + i);
    }

    deliver(Channel.FCM, many.build());

    assertThat(servers.sql().queryForList("SELECT reason, due_at FROM later"))
        .hasSize(100)
        .allSatisfy(row -> assertThat(row).containsEntry("reason", "timeout"));
    assertThat(
            servers
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM later WHERE due_at <= ?",
                    Integer.class,
                    Timestamp.from(clock.instant())))
        .isZero();
    assertThat(
            meters
                .get("pushplanet.provider.in.flight")
                .tag("lane", "push.fcm.high")
                .gauge()
                .value())
        .isZero();
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("fresh", "t").build());
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.device().value()).isEqualTo("fresh"));
  }

  @Test
  void a_message_that_is_put_off_waits_alone_and_without_a_request() throws Exception {
    hms.puttingOff = true;
    Push first = aPush(clock).from(APP).toHms("d1", "t1").build();
    Push back = servers.registered(aPush(clock).from(APP).toHms("d2", "t2").build()).retried();

    deliver(Channel.HMS, first, back);

    assertThat(hms.requests).containsExactly(List.of("d2"));
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly("project_quota_rest");
    // The message was not tried.
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting -> assertThat(waiting).contains("\"d1\"", "\"attempt\":0"));
  }

  @Test
  void devices_of_one_message_share_a_request_and_end_on_their_own() throws Exception {
    hms.together = 3;
    hms.answers.put("d2", new DeliveryOutcome.Rejected(200, "80100000"));
    hms.answers.put("d3", new DeliveryOutcome.TryAgain(503, "http_503", null, false));
    Push message = aPush(clock).from(APP).toHms("d1", "t1").toHms("d2", "t2").build();
    Push chunk = message.to(aPush(clock).toHms("d3", "t3").toHms("d4", "t4").build().recipients());
    Push other = aPush(clock).from(APP).toHms("d5", "t5").build();
    Push retry =
        servers
            .registered(message.to(aPush(clock).toHms("d6", "t6").build().recipients()))
            .retried();

    deliver(Channel.HMS, message, chunk, other, retry);

    assertThat(hms.requests)
        .containsExactlyInAnyOrder(
            List.of("d1", "d2", "d3"), List.of("d4"), List.of("d5"), List.of("d6"));
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.device().value() + " " + ended.state().word())
        .containsExactlyInAnyOrder(
            "d1 delivered", "d2 failed", "d4 delivered", "d5 delivered", "d6 delivered");
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting -> assertThat(waiting).contains("\"d3\"").doesNotContain("\"d1\""));
  }

  @Test
  void bark_369_one_bad_token_does_not_touch_its_neighbours() throws Exception {
    fcm.answers.put("d2", new DeliveryOutcome.Rejected(400, "INVALID_ARGUMENT"));
    fcm.answers.put("d3", new DeliveryOutcome.TryAgain(503, "UNAVAILABLE", null, true));

    deliver(
        Channel.FCM,
        aPush(clock).from(APP).toFcm("d1", "t1").toFcm("d2", "t2").toFcm("d3", "t3").build());

    assertThat(fcm.sent).containsExactlyInAnyOrder("d1", "d2", "d3");
    assertThat(servers.sql().queryForList("SELECT pushes FROM later", String.class))
        .singleElement()
        .satisfies(waiting ->
            assertThat(waiting)
                .contains("\"d3\"", "\"attempt\":1")
                .doesNotContain("\"d1\"", "\"d2\""));
  }

  @Test
  void a_message_that_expired_in_the_queue_is_not_sent() throws Exception {
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(5), null))
            .toFcm("d1", "t")
            .build();
    clock.advance(Duration.ofSeconds(5));

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED));
  }

  @Test
  void a_retry_that_would_come_after_the_ttl_is_not_made() throws Exception {
    fcm.answers.put(
        "d1", new DeliveryOutcome.TryAgain(503, "UNAVAILABLE", Duration.ofSeconds(60), true));

    deliver(
        Channel.FCM,
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(30), null))
            .toFcm("d1", "t")
            .build());

    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.EXPIRED);
          assertThat(ended.attempt().reason()).isEqualTo("UNAVAILABLE");
        });
  }

  @Test
  void a_long_back_off_of_ours_ends_with_a_last_try_before_the_ttl() throws Exception {
    apns.answers.put("d1", new DeliveryOutcome.TryAgain(503, "ServiceUnavailable", null, true));
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofMinutes(5), null))
            .toApns("d1", "ab")
            .build();

    deliver(Channel.APNS, servers.registered(push).retried());

    assertThat(servers.sql().queryForObject("SELECT due_at FROM later", Timestamp.class))
        .isEqualTo(Timestamp.from(push.expiresAt().minusSeconds(2)));
  }

  /// FCM asks for ten seconds, and the time to live leaves them.
  @Test
  void a_short_back_off_of_ours_ends_with_a_last_try_before_the_ttl() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.TryAgain(503, "UNAVAILABLE", null, true));
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(60), null))
            .toFcm("d1", "t1")
            .build();
    clock.advance(Duration.ofSeconds(35));

    deliver(Channel.FCM, servers.registered(push).retried().retried());

    assertThat(servers.sql().queryForObject("SELECT due_at FROM later", Timestamp.class))
        .isEqualTo(Timestamp.from(push.expiresAt().minusSeconds(2)));
  }

  /// The message was put off for a minute without a request, and it could be sent before its time
  /// to live ends.
  @Test
  void a_message_that_is_put_off_beyond_its_ttl_comes_back_before_it_ends() throws Exception {
    hms.puttingOff = true;
    Push push =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ofSeconds(30), null))
            .toHms("d1", "t1")
            .build();
    deliver(Channel.HMS, push);

    assertThat(servers.sql().queryForObject("SELECT due_at FROM later", Timestamp.class))
        .isEqualTo(Timestamp.from(push.expiresAt().minusSeconds(2)));
    assertThat(events(DeliveryEvent.Ended.class)).isEmpty();

    clock.advance(Duration.ofSeconds(28).plusMillis(100));
    hms.answers.put(
        "d1", new DeliveryOutcome.PutOff(0, "project_quota_rest", Duration.ofMinutes(1)));
    deliver(Channel.HMS, servers.registered(push).putOff());

    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(DeliveryEvent.Ended::state)
        .containsExactly(DeliveryState.EXPIRED);
  }

  @Test
  void a_pause_of_the_credential_is_no_try() throws Exception {
    fcm.answers.put("d1", new DeliveryOutcome.CredentialFault(0, "credential_paused"));

    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").build());

    assertThat(servers.sql().queryForObject("SELECT pushes FROM later", String.class))
        .contains("\"attempt\":0", "\"waited\":true");
  }

  /// A phone must not ring for a call of two hours ago because the workers were down.
  @Test
  void now_or_never_is_not_hours_later() throws Exception {
    Push call =
        aPush(clock)
            .from(APP)
            .delivered(options(Route.AUTO, Duration.ZERO, null))
            .toApns("d1", "ab")
            .build();
    clock.advance(Duration.ofSeconds(20));
    deliver(Channel.APNS, call);
    clock.advance(Duration.ofSeconds(20));
    deliver(Channel.APNS, call);

    assertThat(apns.sent).containsExactly("d1");
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(DeliveryEvent.Ended::state)
        .containsExactly(DeliveryState.DELIVERED, DeliveryState.EXPIRED);
  }

  @Test
  void now_or_never_may_take_longer_for_a_broadcast_that_was_not_counted() throws Exception {
    Push chunk =
        servers
            .registered(
                aPush(clock)
                    .from(APP)
                    .delivered(options(Route.AUTO, Duration.ZERO, null))
                    .toApns("d1", "ab")
                    .build())
            .ofAudience(Push.UNCOUNTED);
    clock.advance(Duration.ofSeconds(31));

    deliver(Channel.APNS, chunk);

    assertThat(apns.sent).containsExactly("d1");
  }

  @Test
  void a_batch_that_is_handed_out_twice_reaches_the_provider_once() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    deliver(Channel.FCM, push);
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));

    delivery.deliver(Channel.FCM, batch(push), true, Ticket.ofNoOrder());

    assertThat(fcm.sent).containsExactly("d1");
    assertThat(events(DeliveryEvent.class)).isEmpty();
  }

  @Test
  void a_cancelled_message_that_comes_back_goes_no_further_and_ends() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    servers.cancel(push);

    deliver(Channel.FCM, push.retried());

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.CANCELLED));
  }

  @Test
  void a_cancelled_message_that_has_waited_in_its_lane_goes_no_further() throws Exception {
    Push push = servers.registered(aPush(clock).from(APP).toFcm("d1", "t1").build());
    servers.cancel(push);
    clock.advance(Delivery.LONG_AGO.plusSeconds(1));

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.state()).isEqualTo(DeliveryState.CANCELLED));
  }

  /// No worker took it from its lane before another user logged in on the phone.
  @Test
  void a_message_that_has_waited_in_its_lane_does_not_reach_the_next_user() throws Exception {
    Push push = servers.registered(aPush(clock).from(APP).forUser("u1").toFcm("d1", "t1").build());
    servers.sql().update("UPDATE devices SET user_id = 'u2' WHERE app_id = ?", APP);
    clock.advance(Delivery.LONG_AGO.plusSeconds(1));

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.attempt().reason())
        .containsExactly("user_changed");
  }

  @Test
  void a_message_that_has_waited_in_its_lane_goes_to_its_device_s_new_token() throws Exception {
    Push push = servers.registered(aPush(clock).from(APP).toFcm("d1", "t1").build());
    servers.sql().update("UPDATE channel_tokens SET token = 't2' WHERE app_id = ?", APP);
    clock.advance(Delivery.LONG_AGO.plusSeconds(1));

    deliver(Channel.FCM, push);

    assertThat(fcm.tokens).containsExactly("t2");
  }

  /// MySQL went away when the message was already in its lane again.
  @Test
  void a_message_that_comes_back_while_mysql_is_away_waits_and_does_not_reach_the_next_user()
      throws Exception {
    Push push = servers.registered(aPush(clock).from(APP).forUser("u1").toFcm("d1", "t1").build());
    servers.sql().update("UPDATE devices SET user_id = 'u2' WHERE app_id = ?", APP);
    servers.sql().execute("RENAME TABLE devices TO devices_away");
    try {
      deliver(Channel.FCM, push.retried());
    } finally {
      servers.sql().execute("RENAME TABLE devices_away TO devices");
    }

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Attempted.class))
        .extracting(attempted -> attempted.attempt().reason())
        .containsExactly("database_unavailable");
    String waiting = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    deliver(
        Channel.FCM,
        WireForm.readBatch(waiting.getBytes(StandardCharsets.UTF_8), Push.class).getFirst());
    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .extracting(ended -> ended.attempt().reason())
        .containsExactly("user_changed");
  }

  @Test
  void a_malformed_batch_becomes_a_dead_letter_and_changes_nothing() throws Exception {
    byte[] rubbish = "[{\"id\":1}]".getBytes(StandardCharsets.UTF_8);

    assertThat(delivery.deliver(Channel.FCM, rubbish, false, Ticket.ofNoOrder())).hasSize(1);
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class)).isEmpty();
  }
}
