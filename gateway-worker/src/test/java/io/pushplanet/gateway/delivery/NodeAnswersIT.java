package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What a node answers besides delivered, and what happens to the message then.
class NodeAnswersIT extends NodeScene {
  private final TurnTaker fcm = new TurnTaker();

  /// Accepts every message, "waiting" only when it is released.
  private static final class TurnTaker implements Provider {
    final CountDownLatch waits = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    final Queue<String> sent = new ConcurrentLinkedQueue<>();

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
      if (push.recipients().getFirst().device().value().equals("waiting")) {
        waits.countDown();
        if (!release.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
          throw new IllegalStateException("nobody released it");
        }
      }
      return Optional.empty();
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      sent.add(recipient.device().value());
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
  void a_message_that_the_device_refused_fails_with_its_reason() throws Exception {
    connect("d1");
    node.answer("d1", target -> Outcome.refused(target, Refusal.BY_DEVICE, "it said 0x83"));

    deliver(Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").build());

    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .singleElement()
        .isInstanceOfSatisfying(
            DeliveryEvent.Ended.class,
            ended -> {
              assertThat(ended.state()).isEqualTo(DeliveryState.FAILED);
              assertThat(ended.attempt().reason()).isEqualTo("refused_by_device");
              assertThat(ended.attempt().action()).isEqualTo("it said 0x83; not repeated");
            });
    assertThat(inbox()).isEmpty();
  }

  @Test
  void a_message_refused_for_now_or_for_an_unknown_reason_waits() throws Exception {
    connect("d1");
    connect("d2");
    node.answer("d1", target -> Outcome.refused(target, Refusal.QUEUE_FULL, null));
    node.answer("d2", target -> new Outcome(target, Result.REFUSED, "a word of another version"));

    deliver(Channel.MQTT, aPush(clock).from(APP).toMqtt("d1").toMqtt("d2").build());

    assertThat(inbox()).containsExactlyInAnyOrder("d1", "d2");
  }

  @Test
  void the_timeline_says_what_a_message_to_a_connected_device_waits_for() throws Exception {
    connect("unsubscribed");
    connect("slow");
    connect("of-an-older-node");
    node.answer(
        "unsubscribed",
        target -> new Outcome(target, Result.NOT_HERE, NodeOutcomes.NOT_SUBSCRIBED));
    node.answer("slow", Result.TIMEOUT);
    node.answer("of-an-older-node", Result.NOT_HERE);

    deliver(
        Channel.MQTT,
        aPush(clock)
            .from(APP)
            .toMqtt("unsubscribed")
            .toMqtt("slow")
            .toMqtt("of-an-older-node")
            .build());

    assertThat(inbox()).containsExactlyInAnyOrder("unsubscribed", "slow", "of-an-older-node");
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .map(DeliveryEvent.Attempted.class::cast)
        .map(told ->
            told.device().value() + " " + told.attempt().reason() + ": " + told.attempt().action())
        .containsExactlyInAnyOrder(
            "unsubscribed not_subscribed: the device is connected, but has not subscribed to"
                + " push/messages; waits in the inbox until it has",
            "slow timeout: the device is connected, but has not acknowledged it; waits in the inbox"
                + " until it does or connects again",
            "of-an-older-node not_here: waits in the inbox until the device connects");
  }

  @Test
  void an_acknowledgement_that_the_node_has_told_itself_counts_once() throws Exception {
    connect("d1");
    Instant at = clock.instant().minusMillis(300);
    node.answer("d1", target -> new Outcome(target, Result.DELIVERED, null, null, null, at));
    Push push = aPush(clock).from(APP).toMqtt("d1").build();

    deliver(Channel.MQTT, push);
    List<DeliveryEvent> told = servers.drain(Topology.EVENTS, DeliveryEvent.class);
    assertThat(told).singleElement().isInstanceOf(DeliveryEvent.Ended.class);
    write(told);
    write(List.of(acknowledgedLate(push, "d1", at)));

    assertThat(
            servers
                .sql()
                .queryForList(
                    "SELECT CONCAT(state, ' ', duplicates) FROM deliveries", String.class))
        .containsExactly("delivered 0");
  }

  @Test
  void a_fallback_that_waits_for_its_turn_is_called_off_when_the_device_acknowledges()
      throws Exception {
    Push push =
        servers
            .registered(aPush(clock).from(APP).toFcm("waiting", "t1").toFcm("other", "t2").build())
            .fallenBackFrom(Channel.MQTT);
    Future<?> batch = delivering(Channel.FCM, push);
    Eventually.within(PATIENCE, () -> assertThat(fcm.sent).containsExactly("other"));

    write(List.of(acknowledgedLate(push, "waiting", clock.instant())));

    Eventually.within(PATIENCE, () -> assertThat(calledOff()).isEqualTo(1));
    fcm.release.countDown();
    batch.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(fcm.sent).containsExactly("other");
    assertThat(told())
        .containsExactlyInAnyOrder(
            "other delivered null", "waiting called_off delivered by mqtt; fallback cancelled");
  }

  @Test
  void a_fallback_that_is_alone_in_its_batch_is_called_off_as_well() throws Exception {
    Push push =
        servers
            .registered(aPush(clock).from(APP).toFcm("waiting", "t1").build())
            .fallenBackFrom(Channel.MQTT);
    Future<?> batch = delivering(Channel.FCM, push);
    assertThat(fcm.waits.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

    write(List.of(acknowledgedLate(push, "waiting", clock.instant())));

    Eventually.within(PATIENCE, () -> assertThat(calledOff()).isEqualTo(1));
    fcm.release.countDown();
    batch.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(fcm.sent).isEmpty();
    assertThat(told()).containsExactly("waiting called_off delivered by mqtt; fallback cancelled");
  }

  @Test
  void a_fallback_after_the_acknowledgement_is_not_sent() throws Exception {
    Push push = aPush(clock).from(APP).toFcm("d1", "t1").build().fallenBackFrom(Channel.MQTT);
    write(List.of(acknowledgedLate(push, "d1", clock.instant())));

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).isEmpty();
    assertThat(told()).containsExactly("d1 called_off delivered by mqtt; fallback cancelled");
    assertThat(calledOff()).isEqualTo(1);
  }

  @Test
  void a_fallback_that_was_sent_is_not_reported_as_called_off() throws Exception {
    Push push =
        servers
            .registered(aPush(clock).from(APP).toFcm("d1", "t1").build())
            .fallenBackFrom(Channel.MQTT);
    deliver(Channel.FCM, push);
    List<DeliveryEvent> sent = servers.drain(Topology.EVENTS, DeliveryEvent.class);
    write(List.of(acknowledgedLate(push, "d1", clock.instant())));
    write(sent);

    deliver(Channel.FCM, push);

    assertThat(fcm.sent).containsExactly("d1");
    assertThat(told()).isEmpty();
    assertThat(calledOff()).isZero();
  }

  @Test
  void a_fallback_is_sent_while_the_database_cannot_be_asked() throws Exception {
    Push push =
        servers
            .registered(aPush(clock).from(APP).toFcm("waiting", "t1").toFcm("other", "t2").build())
            .fallenBackFrom(Channel.MQTT);
    write(List.of(acknowledgedLate(push, "waiting", clock.instant())));
    servers.sql().execute("RENAME TABLE deliveries TO deliveries_away");
    try {
      fcm.release.countDown();
      deliver(Channel.FCM, push);
    } finally {
      servers.sql().execute("RENAME TABLE deliveries_away TO deliveries");
    }

    assertThat(fcm.sent).containsExactlyInAnyOrder("waiting", "other");
  }

  /// The events since the last call, in few words.
  private List<String> told() throws Exception {
    return servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .map(event ->
            switch (event) {
              case DeliveryEvent.Ended(_, _, _, var device, _, var attempt) ->
                  device.value() + " " + attempt.result() + " " + attempt.action();
              case DeliveryEvent.Attempted(_, _, _, var device, var attempt) ->
                  device.value() + " " + attempt.result() + " " + attempt.action();
              default -> event.toString();
            })
        .toList();
  }

  private double calledOff() {
    var counter =
        meters.find("pushplanet.outcomes").tags("channel", "fcm", "result", "called_off").counter();
    return counter == null ? 0 : counter.count();
  }

  private static DeliveryEvent acknowledgedLate(Push push, String device, Instant at) {
    return new DeliveryEvent.Ended(
        push.app(),
        at,
        push.id(),
        new DeviceId(device),
        DeliveryState.DELIVERED,
        Attempt.acknowledgedLate(at));
  }

  private void write(List<DeliveryEvent> events) {
    new StatisticsWriter(servers.database()).write(events);
  }
}
