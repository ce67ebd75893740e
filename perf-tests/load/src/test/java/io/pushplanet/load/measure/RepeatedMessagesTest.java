package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.load.crowd.FleetProcess;
import io.pushplanet.load.fleet.Sightings;
import io.pushplanet.load.measure.RepeatedMessages.Account;
import io.pushplanet.load.node.Gateway.Addressed;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatedMessagesTest {
  private static final long PAUSE = RepeatedMessages.PAUSE_NANOS;

  private final RepeatedMessages messages = new RepeatedMessages();
  private final Sightings sightings = new Sightings();
  private final Addressed first = message(1);
  private final Addressed second = message(2);

  @Test
  void messages_are_due_at_their_times_and_only_once() {
    messages.add(second, 20);
    messages.add(first, 10);

    assertThat(messages.due(9, 5)).isEmpty();
    assertThat(messages.due(20, 1)).containsExactly(first);
    assertThat(messages.due(20, 5)).containsExactly(second);
    assertThat(messages.due(Long.MAX_VALUE / 2, 5)).isEmpty();
  }

  @Test
  void a_message_whose_device_is_away_is_sent_again_after_a_longer_pause_until_it_is_delivered() {
    messages.add(first, 0);

    send(0);
    messages.told(first.id(), Result.NOT_HERE, 5);
    assertThat(messages.due(5 + PAUSE - 1, 5)).isEmpty();
    send(5 + PAUSE);
    messages.told(first.id(), Result.REFUSED, 6 + PAUSE);
    assertThat(messages.due(6 + 3 * PAUSE - 1, 5)).isEmpty();
    send(6 + 3 * PAUSE);
    assertThat(messages.isDone()).isFalse();
    see(first);
    messages.told(first.id(), Result.DELIVERED, 7 + 3 * PAUSE);

    assertThat(messages.isDone()).isTrue();
    assertThat(messages.account(sightings))
        .isEqualTo(new Account(1, 0, 1, 2, 2, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0));
  }

  @Test
  void no_pause_is_longer_than_the_longest_one() {
    messages.add(first, 0);
    long now = 0;
    for (int i = 0; i < 20; i++) {
      send(now);
      messages.told(first.id(), Result.NOT_HERE, now);
      now += RepeatedMessages.LONGEST_PAUSE_NANOS;
    }
    assertThat(messages.due(now, 5)).containsExactly(first);
  }

  @Test
  void a_message_that_its_device_never_saw_is_lost_even_if_the_node_calls_it_delivered() {
    messages.add(first, 0);
    messages.add(second, 0);
    messages.due(0, 5);
    messages.told(first.id(), Result.DELIVERED, 1);
    messages.told(second.id(), Result.DELIVERED, 1);
    see(second);

    Account account = messages.account(sightings);

    assertThat(account.received()).isEqualTo(1);
    assertThat(account.lost()).isEqualTo(1);
    assertThat(account.untrue()).isEqualTo(1);
    assertThat(account.undelivered()).isZero();
  }

  @Test
  void a_message_that_another_device_saw_is_lost() {
    messages.add(first, 0);
    send(0);
    messages.told(first.id(), Result.DELIVERED, 1);
    sightings.arrived(second.device().id(), first.id().value(), 0);

    assertThat(messages.account(sightings).lost()).isEqualTo(1);
  }

  @Test
  void a_message_without_an_outcome_is_not_sent_again_and_is_told() {
    messages.add(first, 0);
    send(0);
    see(first);

    Account account = messages.account(sightings);

    assertThat(messages.due(Long.MAX_VALUE / 2, 5)).isEmpty();
    assertThat(account.unanswered()).isEqualTo(1);
    assertThat(account.undelivered()).isEqualTo(1);
    assertThat(account.lost()).isZero();
  }

  @Test
  void a_message_that_was_never_sent_is_lost() {
    messages.add(first, 10);

    Account account = messages.account(sightings);

    assertThat(account.repeats()).isZero();
    assertThat(account.lost()).isEqualTo(1);
    assertThat(account.undelivered()).isEqualTo(1);
  }

  @Test
  void only_a_repeat_excuses_that_a_device_sees_a_message_twice() {
    messages.add(first, 0);
    messages.add(second, 0);
    messages.due(0, 5);
    messages.told(first.id(), Result.TIMEOUT, 1);
    messages.told(second.id(), Result.DELIVERED, 1);
    send(1 + PAUSE);
    messages.told(first.id(), Result.DELIVERED, 2 + PAUSE);
    for (Addressed message : List.of(first, first, second, second)) {
      see(message);
    }

    Account account = messages.account(sightings);

    assertThat(account.timeouts()).isEqualTo(1);
    assertThat(account.again()).isEqualTo(2);
    assertThat(account.surplus()).isEqualTo(1);
  }

  @Test
  void a_second_outcome_of_one_try_is_told() {
    messages.add(first, 0);
    send(0);
    messages.told(first.id(), Result.DELIVERED, 1);
    messages.told(first.id(), Result.NOT_HERE, 1);

    Account account = messages.account(sightings);

    assertThat(account.unasked()).isEqualTo(1);
    assertThat(account.notHere()).isZero();
    assertThat(account.atOnce()).isEqualTo(1);
  }

  private void send(long nowNanos) {
    assertThat(messages.due(nowNanos, 5)).containsExactly(first);
  }

  private void see(Addressed message) {
    sightings.arrived(message.device().id(), message.id().value(), 0);
  }

  private static Addressed message(int number) {
    return new Addressed(
        new MessageId("01890a5d-ac96-774b-bcce-b302099a800" + number),
        FleetProcess.device("0190ca11", number));
  }
}
