package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a message that has waited meets when it comes back: its device, user or token may have
/// changed.
class WaitedForIT extends DeliveryScene {
  @Test
  void a_message_that_waited_for_a_deleted_device_is_not_sent() throws Exception {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").build().putOff());

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.FAILED);
          assertThat(ended.attempt().reason()).isEqualTo("device_deleted");
        });
  }

  /// A log-out may delete the device, and the next log-in register it again.
  @Test
  void a_message_that_waited_is_not_sent_to_a_device_that_was_registered_anew() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build();
    clock.advance(Duration.ofSeconds(1));
    registered("d1", "fcm", "token", "t2", clock.instant());
    servers.sql().update("UPDATE devices SET created_at = ?", Timestamp.from(clock.instant()));

    deliver(Channel.FCM, push.putOff());

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> assertThat(ended.attempt().reason()).isEqualTo("device_deleted"));
  }

  /// Another user has logged in on the same phone meanwhile.
  @Test
  void a_message_is_not_sent_when_another_device_has_the_token() throws Exception {
    registered("d1", "fcm", "token", "t1", clock.instant());
    servers.sql().update("UPDATE channel_tokens SET device_id = 'd2'");

    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").build().retried());

    assertThat(fcm.sent).isEmpty();
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.state()).isEqualTo(DeliveryState.FAILED);
          assertThat(ended.attempt().reason()).isEqualTo("token_moved");
        });
  }

  /// Other users that the message names get it at their own devices.
  @ParameterizedTest
  @CsvSource({"u2,false", ",false", "u1,true"})
  void a_message_that_waited_for_a_user_is_not_sent_to_another_user(
      @Nullable String loggedIn, boolean theirs) throws Exception {
    registered("d1", "fcm", "token", "t1", clock.instant());
    servers.sql().update("UPDATE devices SET user_id = ?", loggedIn);
    Push push = aPush(clock).from(APP).forUser("u1").toFcm("d1", "t1").build();
    servers
        .sql()
        .update(
            "INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at)"
                + " VALUES (?, ?, ?, ?, '', '', NOW(), NOW())",
            push.id().day(),
            push.id().value(),
            APP,
            WireForm.json(new Audience.Users(List.of("u1", "u2"))).text());

    deliver(Channel.FCM, push.retried());

    assertThat(fcm.sent).hasSize(theirs ? 1 : 0);
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.state())
              .isEqualTo(theirs ? DeliveryState.DELIVERED : DeliveryState.FAILED);
          assertThat(ended.attempt().reason()).isEqualTo(theirs ? null : "user_changed");
        });
  }

  /// Otherwise the second try would not know the user.
  @Test
  void a_message_that_waits_again_is_still_for_the_same_user() throws Exception {
    registered("d1", "fcm", "token", "t1", clock.instant());
    servers.sql().update("UPDATE devices SET user_id = 'u1'");
    fcm.answers.put("d1", new DeliveryOutcome.TryAgain(503, "UNAVAILABLE", null, true));

    deliver(Channel.FCM, aPush(clock).from(APP).forUser("u1").toFcm("d1", "t1").build().retried());

    assertThat(servers.sql().queryForObject("SELECT pushes FROM later", String.class))
        .contains("\"user\":\"u1\"");
  }

  @Test
  void a_message_that_waited_takes_the_channel_that_its_device_has_now() throws Exception {
    registered("d1", "hms", "token", "h1", clock.instant());

    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").build().retried());

    assertThat(fcm.sent).isEmpty();
    assertThat(servers.drain(Topology.lane(Channel.HMS, Priority.HIGH), Push.class))
        .singleElement()
        .satisfies(push -> assertThat(push.recipients().getFirst().hms()).isNotNull());
  }
}
