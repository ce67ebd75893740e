package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Many messages wait for a place at a provider that has answered.
class WaitingForPlacesIT extends DeliveryScene {
  private static final int MANY = 200;

  /// Make a provider known.
  private static final int ANSWERS = 6;

  private int sent;

  @BeforeEach
  void manyWaitAndOneIsOnItsWay() {
    keep(
        Channel.FCM,
        IntStream.range(0, MANY)
            .mapToObj(i -> aPush(clock).from(APP).toFcm("waits" + i, "token").build()));
    delivery.bringForward(Priority.HIGH);
    for (int i = 0; i < ANSWERS; i++) {
      oneMoreComes();
    }
    assertThat(broughtForward()).isOne();
  }

  private void keep(Channel channel, Stream<Push> pushes) {
    new LaterStore(servers.database())
        .keep(
            pushes
                .map(push ->
                    new Later(
                        clock.instant().plus(Duration.ofHours(1)),
                        Topology.lane(channel, Priority.HIGH),
                        "provider_slow",
                        push.postponed()))
                .toList());
  }

  private void oneMoreComes() {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("new" + sent++, "token").build());
  }

  private int broughtForward() {
    return broughtForward(Channel.FCM);
  }

  private int broughtForward(Channel channel) {
    return servers
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM later WHERE lane = ? AND reason = 'provider_slow' AND due_at <= ?",
            Integer.class,
            Topology.lane(channel, Priority.HIGH),
            Timestamp.from(clock.instant()));
  }

  private void noMoreIsBroughtForwardUntilOneIsAnswered(Runnable over) {
    oneMoreComes();
    delivery.bringForward(Priority.HIGH);
    assertThat(broughtForward()).isOne();

    over.run();
    oneMoreComes();
    delivery.bringForward(Priority.HIGH);
    assertThat(broughtForward()).isGreaterThan(30);
  }

  @Test
  void no_more_is_brought_forward_while_messages_are_put_off() {
    fcm.puttingOff = true;

    noMoreIsBroughtForwardUntilOneIsAnswered(() -> fcm.puttingOff = false);
  }

  @Test
  void no_more_is_brought_forward_while_it_is_nobodys_turn() {
    fcm.resting = true;

    noMoreIsBroughtForwardUntilOneIsAnswered(() -> fcm.resting = false);
  }

  @Test
  void no_more_is_brought_forward_while_the_credential_is_paused() {
    fcm.answers.put("token", new DeliveryOutcome.CredentialFault(0, "credential_paused"));

    noMoreIsBroughtForwardUntilOneIsAnswered(fcm.answers::clear);
  }

  @Test
  void what_travels_together_is_brought_forward_and_expected_as_one_request() {
    // Of another app, of which a new worker knows nothing.
    DeliveryForTests other = delivery(hms);
    hms.together = 1_000;
    Push message = aPush(clock).from("crowd").toHms("d", "token").build();
    List<Push> all =
        IntStream.range(0, 2_000)
            .mapToObj(i -> aPush(clock).toHms("waits" + i, "token").build().recipients())
            .map(message::to)
            .toList();
    keep(Channel.HMS, all.stream());
    other.bringForward(Priority.HIGH);
    assertThat(broughtForward(Channel.HMS)).isEqualTo(16);
    for (int i = 0; i < ANSWERS; i++) {
      Push another = aPush(clock).from("crowd").toHms("new" + i, "token").build();
      other.deliver(Channel.HMS, batch(another), false, Ticket.ofNoOrder());
    }

    other.bringForward(Priority.HIGH);
    assertThat(broughtForward(Channel.HMS)).as("four fifths of 64 places").isEqualTo(52 * 16);

    Push[] came = all.stream().limit(64).map(Push::postponed).toArray(Push[]::new);
    other.deliver(Channel.HMS, batch(came), false, Ticket.ofNoOrder());
    other.bringForward(Priority.HIGH);
    assertThat(broughtForward(Channel.HMS)).as("as many as came").isEqualTo(56 * 16);
  }
}
