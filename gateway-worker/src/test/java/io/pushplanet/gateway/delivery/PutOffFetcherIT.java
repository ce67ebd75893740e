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

/// Many messages in `later` wait for permits, and their provider has answered.
class PutOffFetcherIT extends DeliveryScene {
  private static final int MANY = 200;

  /// So many answers make a provider known.
  private static final int ANSWERS = 6;

  private int sent;

  @BeforeEach
  void manyWaitAndOneIsFetched() {
    keep(
        Channel.FCM,
        IntStream.range(0, MANY)
            .mapToObj(i -> aPush(clock).from(APP).toFcm("waits" + i, "token").build()));
    delivery.fetchPutOff(Priority.HIGH);
    for (int i = 0; i < ANSWERS; i++) {
      oneMoreComes();
    }
    assertThat(fetched()).isOne();
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
                        push.putOff()))
                .toList());
  }

  private void oneMoreComes() {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("new" + sent++, "token").build());
  }

  private int fetched() {
    return fetched(Channel.FCM);
  }

  private int fetched(Channel channel) {
    return servers
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM later WHERE lane = ? AND reason = 'provider_slow' AND due_at <= ?",
            Integer.class,
            Topology.lane(channel, Priority.HIGH),
            Timestamp.from(clock.instant()));
  }

  private void noMoreIsFetchedUntilOneIsAnswered(Runnable over) {
    oneMoreComes();
    delivery.fetchPutOff(Priority.HIGH);
    assertThat(fetched()).isOne();

    over.run();
    oneMoreComes();
    delivery.fetchPutOff(Priority.HIGH);
    assertThat(fetched()).isGreaterThan(30);
  }

  @Test
  void no_more_messages_are_fetched_while_messages_are_put_off() {
    fcm.puttingOff = true;

    noMoreIsFetchedUntilOneIsAnswered(() -> fcm.puttingOff = false);
  }

  @Test
  void no_more_messages_are_fetched_while_the_provider_rests() {
    fcm.resting = true;

    noMoreIsFetchedUntilOneIsAnswered(() -> fcm.resting = false);
  }

  @Test
  void no_more_messages_are_fetched_while_the_credential_is_paused() {
    fcm.answers.put("token", new DeliveryOutcome.CredentialFault(0, "credential_paused"));

    noMoreIsFetchedUntilOneIsAnswered(fcm.answers::clear);
  }

  @Test
  void devices_that_share_a_request_are_fetched_and_expected_as_one() {
    // Another app, of which a new worker knows nothing.
    DeliveryForTests other = delivery(hms);
    hms.together = 1_000;
    Push message = aPush(clock).from("crowd").toHms("d", "token").build();
    List<Push> all =
        IntStream.range(0, 2_000)
            .mapToObj(i -> aPush(clock).toHms("waits" + i, "token").build().recipients())
            .map(message::to)
            .toList();
    keep(Channel.HMS, all.stream());
    other.fetchPutOff(Priority.HIGH);
    assertThat(fetched(Channel.HMS)).isEqualTo(16);
    for (int i = 0; i < ANSWERS; i++) {
      Push another = aPush(clock).from("crowd").toHms("new" + i, "token").build();
      other.deliver(Channel.HMS, batch(another), false, Ticket.ofNoOrder());
    }

    other.fetchPutOff(Priority.HIGH);
    assertThat(fetched(Channel.HMS)).as("four fifths of 64 permits").isEqualTo(52 * 16);

    Push[] came = all.stream().limit(64).map(Push::putOff).toArray(Push[]::new);
    other.deliver(Channel.HMS, batch(came), false, Ticket.ofNoOrder());
    other.fetchPutOff(Priority.HIGH);
    assertThat(fetched(Channel.HMS)).as("as many as arrived").isEqualTo(56 * 16);
  }
}
