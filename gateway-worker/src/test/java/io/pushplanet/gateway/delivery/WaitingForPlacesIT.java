package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Many messages wait for a place at a provider that has answered.
class WaitingForPlacesIT extends DeliveryScene {
  private static final int MANY = 200;
  private int sent;

  @BeforeEach
  void manyWaitAndOneIsOnItsWay() {
    new LaterStore(servers.database())
        .keep(
            IntStream.range(0, MANY)
                .mapToObj(i -> aPush(clock).from(APP).toFcm("waits" + i, "token").build().putOff())
                .map(push ->
                    new Later(
                        clock.instant().plus(Duration.ofHours(1)),
                        Topology.lane(Channel.FCM, Priority.HIGH),
                        "provider_slow",
                        push))
                .toList());
    delivery.bringForward(Priority.HIGH);
    for (int i = 0; i < 6; i++) {
      oneMoreComes();
    }
    assertThat(broughtForward()).isOne();
  }

  private void oneMoreComes() {
    deliver(Channel.FCM, aPush(clock).from(APP).toFcm("new" + sent++, "token").build());
  }

  private int broughtForward() {
    return servers
        .sql()
        .queryForObject(
            "SELECT COUNT(*) FROM later WHERE reason = 'provider_slow' AND due_at <= ?",
            Integer.class,
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
}
