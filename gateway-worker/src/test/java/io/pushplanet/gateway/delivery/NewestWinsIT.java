package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.withOverrides;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a message with a collapse key meets when it comes back and newer messages were accepted
/// meanwhile.
class NewestWinsIT extends DeliveryScene {
  @BeforeEach
  void devices() {
    registered("d1", "fcm", "token", "t1", clock.instant());
    registered("d2", "fcm", "token", "t2", clock.instant());
  }

  @ParameterizedTest
  @CsvSource({
    "order-77, d1, DELIVERED, true",
    "order-77, d1, QUEUED, true",
    "order-77, d1, FAILED, false",
    "order-77, d1, CANCELLED, false",
    "order-77, d2, DELIVERED, false",
    "order-7, d1, DELIVERED, false",
    "ORDER-77, d1, DELIVERED, false"
  })
  void a_message_that_was_tried_gives_way_to_a_newer_one_of_its_key_for_its_device(
      String key, String device, DeliveryState state, boolean givesWay) throws Exception {
    Push old = message("order-77", "d1");
    Push newer = message(key, device);
    row(newer, device, state);

    deliver(Channel.FCM, old.retried());

    assertThat(fcm.sent).hasSize(givesWay ? 0 : 1);
    assertThat(events(DeliveryEvent.Ended.class))
        .singleElement()
        .satisfies(ended -> {
          assertThat(ended.message()).isEqualTo(old.id());
          assertThat(ended.state())
              .isEqualTo(givesWay ? DeliveryState.EXPIRED : DeliveryState.DELIVERED);
          assertThat(ended.attempt().reason()).isEqualTo(givesWay ? "collapsed" : null);
        });
  }

  /// Otherwise a device whose messages follow each other faster than they come back would never get
  /// any.
  @ParameterizedTest
  @CsvSource({"QUEUED,false", "DELIVERED,true"})
  void a_message_that_was_not_tried_yet_gives_way_only_to_one_that_arrived(
      DeliveryState state, boolean givesWay) {
    Push old = message("order-77", "d1");
    row(message("order-77", "d1"), "d1", state);

    deliver(Channel.FCM, old.putOff());

    assertThat(fcm.sent).hasSize(givesWay ? 0 : 1);
  }

  @Test
  void of_messages_that_come_back_together_only_the_newest_of_a_key_is_sent() throws Exception {
    Push old = message("order-77", "d1");
    Push older = message("order-77", "d1");
    Push newest = message("order-77", "d1");
    Push another = message("order-78", "d1");

    deliver(
        Channel.FCM,
        newest.putOff(),
        old.putOff(),
        another.putOff(),
        older.putOff(),
        message("order-77", "d2").putOff());

    assertThat(fcm.sent).hasSize(3);
    assertThat(events(DeliveryEvent.Ended.class))
        .filteredOn(ended -> ended.state() == DeliveryState.EXPIRED)
        .extracting(DeliveryEvent.Ended::message)
        .containsExactlyInAnyOrder(old.id(), older.id());
  }

  @Test
  void a_message_that_its_devices_new_user_must_not_read_replaces_none() {
    Push forAll = message("order-77", "d1");
    Push forFormerUser =
        aPush(clock).from(APP).delivered(forAll.delivery()).forUser("u1").toFcm("d1", "t1").build();

    deliver(Channel.FCM, forAll.putOff(), forFormerUser.putOff());

    assertThat(fcm.sent).hasSize(1);
  }

  @Test
  void a_newer_message_does_not_give_way_to_an_older_one() {
    row(message("order-77", "d1"), "d1", DeliveryState.DELIVERED);

    deliver(Channel.FCM, message("order-77", "d1").retried());

    assertThat(fcm.sent).hasSize(1);
  }

  /// Its key may hold what JSON and SQL give a meaning.
  @Test
  void a_key_is_compared_as_it_is() {
    String key = "a\"%_\\'ü";
    Push old = message(key, "d1");
    row(message(key, "d1"), "d1", DeliveryState.DELIVERED);

    deliver(Channel.FCM, old.retried());

    assertThat(fcm.sent).isEmpty();
  }

  @Test
  void messages_without_a_key_and_on_their_first_way_are_sent() {
    Push without = aPush(clock).from(APP).toFcm("d1", "t1").build();
    Push first = message("order-77", "d1");
    row(message("order-77", "d1"), "d1", DeliveryState.DELIVERED);

    deliver(Channel.FCM, without.retried(), first);

    assertThat(fcm.sent).hasSize(2);
  }

  /// Its acceptance is not in the table yet: only its outcome is.
  @Test
  void a_newer_message_of_which_too_little_is_known_replaces_nothing() {
    Push old = message("order-77", "d1");
    row(message("order-77", "d1"), "d1", DeliveryState.DELIVERED);
    servers.sql().update("UPDATE messages SET delivery = ''");

    deliver(Channel.FCM, old.retried());

    assertThat(fcm.sent).hasSize(1);
  }

  @Test
  void events_of_a_live_activity_do_not_replace_each_other() {
    registered("d3", "apns", "token", "a3", clock.instant());
    LiveActivity end =
        new LiveActivity(
            LiveActivity.Event.END,
            "ab".repeat(32),
            WireForm.mapper().createObjectNode(),
            null,
            null,
            null,
            null,
            null);
    Push old =
        withOverrides(
            aPush(clock)
                .from(APP)
                .delivered(options(Route.AUTO, Duration.ofHours(6), "match-7"))
                .toApns("d3", "a3")
                .build(),
            Overrides.NONE.with(end));
    row(message("match-7", "d3"), "d3", DeliveryState.DELIVERED);

    deliver(Channel.APNS, old.retried());

    assertThat(apns.sent).hasSize(1);
  }

  private Push message(String key, String device) {
    return aPush(clock)
        .from(APP)
        .delivered(options(Route.AUTO, Duration.ofHours(6), key))
        .toFcm(device, "t" + device.substring(1))
        .build();
  }

  /// As the statistics role writes it.
  private void row(Push push, String device, DeliveryState state) {
    DeviceId to = new DeviceId(device);
    List<DeliveryEvent> events = new ArrayList<>();
    events.add(
        new DeliveryEvent.Accepted(
            push.app(),
            push.acceptedAt(),
            push.id(),
            push.expiresAt(),
            WireForm.json(new Audience.Devices(List.of(to))),
            WireForm.json(push.content()),
            WireForm.json(push.delivery()),
            List.of(to),
            true,
            null));
    if (state != DeliveryState.QUEUED) {
      Attempt attempt = Attempt.rejected(Channel.FCM, clock.instant(), "whatever");
      events.add(
          new DeliveryEvent.Ended(push.app(), clock.instant(), push.id(), to, state, attempt));
    }
    assertThat(new StatisticsWriter(servers.database()).write(events)).isEmpty();
  }
}
