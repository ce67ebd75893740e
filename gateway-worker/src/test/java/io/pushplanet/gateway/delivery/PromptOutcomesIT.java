package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.later.DueRows;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Outcomes that leave a batch before its slowest recipient is done, and parcels that are parked
/// meanwhile.
class PromptOutcomesIT extends NodeScene {
  private final SlowProvider fcm = new SlowProvider();
  private final List<DeliveryEvent> told = new ArrayList<>();

  /// Accepts at once, "slow" only when it is released.
  private static final class SlowProvider implements Provider {
    final CountDownLatch release = new CountDownLatch(1);

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      if (recipient.device().value().equals("slow")) {
        try {
          if (!release.await(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("nobody released it");
          }
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return new DeliveryOutcome.Accepted(200, "", "id");
    }
  }

  @Override
  Provider[] providers() {
    return new Provider[] {fcm};
  }

  @AfterEach
  void release() {
    fcm.release.countDown();
  }

  @Test
  void an_outcome_is_reported_while_a_slow_request_is_under_way() throws Exception {
    Future<?> batch =
        delivering(
            Channel.FCM, aPush(clock).from(APP).toFcm("d1", "t1").toFcm("slow", "t2").build());

    Eventually.within(PATIENCE, () -> assertThat(delivered()).containsExactly("d1"));
    assertThat(batch).isNotDone();
    fcm.release.countDown();
    batch.get(60, TimeUnit.SECONDS);

    assertThat(delivered()).containsExactly("d1", "slow");
  }

  @Test
  void a_nodes_answer_is_reported_while_another_device_is_silent() throws Exception {
    connect("d1");
    connect("d2");
    servers.register(APP, "away");
    node.answer("d1", Result.DELIVERED);

    Future<?> batch =
        delivering(
            Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").toMqtt("d2").toMqtt("away").build());

    Eventually.within(PATIENCE, () -> assertThat(delivered()).containsExactly("d1"));
    Eventually.within(PATIENCE, () -> assertThat(inbox()).containsExactly("away"));
    assertThat(batch).isNotDone();
    node.answer("d2", Result.DELIVERED);
    batch.get(60, TimeUnit.SECONDS);

    assertThat(delivered()).containsExactly("d1", "d2");
    assertThat(meters.get("pushplanet.node.answer").tag("result", "delivered").timer().count())
        .isEqualTo(2);
  }

  @Test
  void a_message_with_a_short_deadline_sends_no_other_to_its_vendor() throws Exception {
    connect("hasty");
    connect("patient");

    Future<?> batch =
        delivering(
            Channel.MQTT,
            withFcm("hasty", Duration.ZERO),
            withFcm("patient", DeliveryForTests.ANSWER_WITHIN));

    List<String> fallenBack = new ArrayList<>();
    Eventually.within(
        PATIENCE,
        () -> {
          servers
              .drain("push.fcm.high", Push.class)
              .forEach(push -> fallenBack.add(push.recipients().getFirst().device().value()));
          assertThat(fallenBack).containsExactly("hasty");
        });
    node.answer("patient", Result.DELIVERED);
    batch.get(60, TimeUnit.SECONDS);

    assertThat(delivered()).containsExactly("patient");
    assertThat(servers.drain("push.fcm.high", Push.class)).isEmpty();
  }

  @Test
  void each_message_waits_for_its_device_as_long_as_it_says() throws Exception {
    List<Push> pushes = new ArrayList<>();
    for (int seconds : List.of(1, 5, 20, 600)) {
      connect("within-" + seconds);
      node.answer("within-" + seconds, Result.DELIVERED);
      pushes.add(withFcm("within-" + seconds, Duration.ofSeconds(seconds)));
    }
    Instant begun = clock.instant().truncatedTo(ChronoUnit.MILLIS);

    deliver(Channel.MQTT, pushes.toArray(Push[]::new));

    Duration took = Duration.between(begun, clock.instant());
    List<Integer> waits = List.of(1, 5, 20, 30);
    for (int index = 0; index < waits.size(); index++) {
      Duration wait = Duration.between(begun, node.answerBy(pushes.get(index).id()));
      Duration wished = Duration.ofSeconds(waits.get(index));
      assertThat(wait).isBetween(wished, wished.plus(took));
    }
  }

  /// The lane has 64 recipients in hand, of which an app may let a quarter wait long.
  @Test
  void an_app_with_many_silent_devices_leaves_room_to_others() throws Exception {
    List<Future<?>> batches = new ArrayList<>();
    List<Push> silent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      connect("silent-" + i);
      silent.add(withFcm("silent-" + i, DeliveryOptions.LONGEST_FALLBACK_AFTER));
    }
    Instant soon = clock.instant().plusSeconds(20);
    silent.forEach(push -> batches.add(delivering(Channel.MQTT, push)));
    Eventually.within(PATIENCE, () -> assertThat(node.messages()).hasSize(20));

    servers.connect("other", "d1", node.lease(clock.instant()).node());
    node.answer("d1", Result.DELIVERED);
    Push other = withFcm("other", "d1", DeliveryOptions.LONGEST_FALLBACK_AFTER);
    deliver(Channel.MQTT, other);

    assertThat(silent).filteredOn(push -> node.answerBy(push.id()).isAfter(soon)).hasSize(16);
    assertThat(node.answerBy(other.id())).isAfter(soon);
    for (int i = 0; i < 20; i++) {
      node.answer("silent-" + i, Result.DELIVERED);
    }
    for (Future<?> batch : batches) {
      batch.get(60, TimeUnit.SECONDS);
    }
  }

  private Push withFcm(String device, Duration fallbackAfter) {
    return withFcm(APP, device, fallbackAfter);
  }

  private Push withFcm(String app, String device, Duration fallbackAfter) {
    return aPush(clock)
        .from(app)
        .delivered(
            new DeliveryOptions(Route.AUTO, Duration.ofHours(1), Urgency.HIGH, null, fallbackAfter))
        .build()
        .to(
            List.of(
                recipient(
                    new DeviceId(device),
                    true,
                    new FcmToken("t-" + device, "token", clock.instant()))));
  }

  @Test
  void a_slow_mysql_does_not_delay_fallbacks_of_the_same_batch() throws Exception {
    connect("parked");
    connect("hasty");
    node.answer("parked", Result.NOT_HERE);
    Future<?> batch;
    try (Connection blocking = servers.database().getConnection();
        Statement statement = blocking.createStatement()) {
      statement.execute("LOCK TABLES inbox WRITE");
      try {
        batch =
            delivering(
                Channel.MQTT,
                aPush(clock).from(APP).toMqtt("parked").build(),
                withFcm("hasty", DeliveryForTests.ANSWER_WITHIN));
        Eventually.within(PATIENCE, () -> assertThat(waitForTheInbox()).isPositive());
        node.answer("hasty", Result.NOT_HERE);

        Eventually.within(
            PATIENCE, () -> assertThat(servers.drain("push.fcm.high", Push.class)).singleElement());
        assertThat(batch).isNotDone();
      } finally {
        statement.execute("UNLOCK TABLES");
      }
    }
    batch.get(60, TimeUnit.SECONDS);

    assertThat(inbox()).containsExactly("parked");
  }

  /// How many statements wait for a locked table.
  private int waitForTheInbox() {
    return servers
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for"
                + " table%'",
            Integer.class);
  }

  @Test
  void a_device_that_connected_while_its_message_was_parked_is_drained() throws Exception {
    connect("d1");
    node.answer("d1", Result.NOT_HERE);

    deliver(Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").build());

    assertThat(inbox()).containsExactly("d1");
    assertThat(node.drained()).containsExactly(new DeviceId("d1"));
    assertThat(waiting()).isEmpty();
  }

  /// The message is not sent again: the device may have it from its inbox by now, and that is not
  /// in the database yet.
  @Test
  void a_parked_message_whose_node_could_not_be_asked_comes_back_until_it_was() throws Exception {
    connect("d1");
    node.answer("d1", Result.NOT_HERE);
    node.refuseDrains(true);
    deliver(Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").build());
    assertThat(inbox()).containsExactly("d1");
    assertThat(waiting()).containsExactly("drain_failed");

    node.answer("d1", Result.DELIVERED);
    deliver(Channel.MQTT, back());
    assertThat(waiting()).containsExactly("drain_failed");
    node.refuseDrains(false);
    deliver(Channel.MQTT, back());

    assertThat(node.drained()).containsExactly(new DeviceId("d1"));
    assertThat(waiting()).isEmpty();
    assertThat(inbox()).containsExactly("d1");
    assertThat(delivered()).isEmpty();
  }

  /// The message that waits, a few minutes later.
  private Push back() throws Exception {
    new DueRows(
            servers.database(),
            servers.lanes()::publishAndWait,
            Clock.offset(clock, Duration.ofMinutes(5)))
        .bringBack();
    List<Push> back = servers.drain("push.mqtt.high", Push.class);
    assertThat(back).hasSize(1);
    return back.getFirst();
  }

  /// The devices whose delivery was reported so far, in the order of the events.
  private List<String> delivered() throws Exception {
    told.addAll(servers.drain(Topology.EVENTS, DeliveryEvent.class));
    return told.stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(DeliveryEvent.Ended.class::cast)
        .filter(ended -> ended.state() == DeliveryState.DELIVERED)
        .map(ended -> ended.device().value())
        .toList();
  }

  private List<String> waiting() {
    return servers.sql().queryForList("SELECT reason FROM later", String.class);
  }
}
