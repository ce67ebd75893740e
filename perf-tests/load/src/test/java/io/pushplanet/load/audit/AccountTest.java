package io.pushplanet.load.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.load.client.AcceptedMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AccountTest {
  private static final String FIRST = "0190b8a0-0000-7000-8000-000000000001";
  private static final String SECOND = "0190b8a0-0000-7000-8000-000000000002";

  private final Run run = new Run();

  @Test
  void a_delivered_and_seen_message_balances() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    run.accepted(SECOND, "d2").row(SECOND, "d2", DeliveryState.EXPIRED, "");

    Account account = run.account();

    assertThat(account.balances()).isTrue();
    assertThat(account.total()).isEqualTo(new Counts(2, 1, 0, 1, 0, 0));
    assertThat(account.text()).contains("The account balances.");
  }

  @Test
  void a_message_that_ended_otherwise_balances_and_is_not_delivered() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    assertThat(run.account().deliversAll()).isTrue();

    run.accepted(SECOND, "d2").row(SECOND, "d2", DeliveryState.QUEUED, "").held(SECOND, "d2");

    Account account = run.account();

    assertThat(account.balances()).isTrue();
    assertThat(account.undelivered()).isOne();
    assertThat(account.deliversAll()).isFalse();
  }

  @Test
  void an_accepted_message_unknown_to_mysql_is_lost() {
    run.accepted(FIRST, "d1");

    Account account = run.account();

    assertThat(account.lost()).containsExactly(reception(FIRST, "d1"));
    assertThat(account.balances()).isFalse();
    assertThat(account.text()).contains("DOES NOT BALANCE");
  }

  @Test
  void a_seen_but_unrecorded_message_is_lost() {
    run.accepted(FIRST, "d1").seen(FIRST, "d1", 1);

    assertThat(run.account().lost()).hasSize(1);
  }

  @Test
  void a_queued_delivery_in_no_store_is_lost() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.QUEUED, "");

    assertThat(run.account().lost()).containsExactly(reception(FIRST, "d1"));
    assertThat(run.account().balances()).isFalse();
  }

  @Test
  void a_queued_delivery_in_the_inbox_or_in_later_is_queued() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.QUEUED, "").held(FIRST, "d1");

    Account account = run.account();

    assertThat(account.balances()).isTrue();
    assertThat(account.total().queued()).isOne();
    assertThat(account.queued()).containsExactly(reception(FIRST, "d1"));
  }

  @Test
  void a_queued_delivery_is_queued_while_the_broker_holds_messages() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.QUEUED, "");
    run.inBroker = 1;

    assertThat(run.account().balances()).isTrue();
  }

  @Test
  void a_queued_delivery_is_lost_when_the_broker_holds_messages_for_too_long() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.QUEUED, "");
    run.inBroker = 1;
    run.still = true;

    assertThat(run.account().lost()).containsExactly(reception(FIRST, "d1"));
    assertThat(run.account().balances()).isFalse();
  }

  @Test
  void an_unseen_delivery_is_a_phantom() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.DELIVERED, "apns");

    Account account = run.account();

    assertThat(account.phantoms()).containsExactly(reception(FIRST, "d1"));
    assertThat(account.balances()).isFalse();
  }

  @Test
  void a_delivery_over_an_unwatched_channel_is_unchecked() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.DELIVERED, "webpush");

    Account account = run.account();

    assertThat(account.balances()).isTrue();
    assertThat(account.unchecked()).isOne();
  }

  @Test
  void a_failure_that_a_device_saw_arrive_is_a_contradiction() {
    run.accepted(FIRST, "d1").row(FIRST, "d1", DeliveryState.FAILED, "fcm").seen(FIRST, "d1", 1);

    Account account = run.account();

    assertThat(account.contradictions()).containsExactly(reception(FIRST, "d1"));
    assertThat(account.balances()).isFalse();
  }

  @Test
  void a_delivery_to_another_device_does_not_balance() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    run.row(FIRST, "d2", DeliveryState.DELIVERED, "mqtt");

    Account account = run.account();

    assertThat(account.uninvited()).containsExactly(reception(FIRST, "d2"));
    assertThat(account.balances()).isFalse();
  }

  @Test
  void a_message_that_another_device_saw_does_not_balance() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    run.seen(FIRST, "d2", 1);

    Account account = run.account();

    assertThat(account.uninvited()).containsExactly(reception(FIRST, "d2"));
    assertThat(account.balances()).isFalse();
  }

  @Test
  void counts_that_do_not_equal_the_deliveries_do_not_balance() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    run.table.put(FIRST, new Counts(1, 0, 0, 0, 1, 0));

    Account account = run.account();

    assertThat(account.miscounted()).containsExactly(FIRST);
    assertThat(account.balances()).isFalse();
  }

  @Test
  void an_api_with_other_counts_does_not_balance() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 1);
    run.api.put(FIRST, Counts.NONE);

    Account account = run.account();

    assertThat(account.misreported()).containsExactly(FIRST);
    assertThat(account.balances()).isFalse();
  }

  @Test
  void duplicates_are_counted_and_harmless() {
    run.accepted(FIRST, "d1")
        .row(FIRST, "d1", DeliveryState.DELIVERED, "mqtt")
        .seen(FIRST, "d1", 3);

    Account account = run.account();

    assertThat(account.duplicates()).isEqualTo(2);
    assertThat(account.balances()).isTrue();
  }

  @Test
  void a_message_seen_without_a_202_needs_a_request_that_was_unsure() {
    run.seen(SECOND, "d1", 1);

    assertThat(run.account().strangers()).isOne();
    assertThat(run.account().balances()).isFalse();

    run.unsure = 1;

    assertThat(run.account().balances()).isTrue();
  }

  private static Reception reception(String message, String device) {
    return new Reception(message, new DeviceId(device));
  }

  /// Collects evidence; counts follow the rows unless a test says otherwise.
  private static final class Run {
    private final List<AcceptedMessage> accepted = new ArrayList<>();
    private final List<DeliveryRow> rows = new ArrayList<>();
    private final Map<Reception, Integer> seen = new HashMap<>();
    private final Set<Reception> held = new HashSet<>();
    private final Map<String, Counts> table = new HashMap<>();
    private final Map<String, Counts> api = new HashMap<>();
    private long unsure;
    private long inBroker;
    private boolean still;

    Run accepted(String message, String device) {
      accepted.add(
          new AcceptedMessage(
              new MessageId(message), "ref-" + message, List.of(new DeviceId(device))));
      return this;
    }

    Run row(String message, String device, DeliveryState state, String channel) {
      rows.add(new DeliveryRow(reception(message, device), state, channel, "", 0));
      table.merge(message, Counts.NONE.plus(state), (sum, _) -> sum.plus(state));
      api.put(message, table.getOrDefault(message, Counts.NONE));
      return this;
    }

    Run seen(String message, String device, int times) {
      seen.put(reception(message, device), times);
      return this;
    }

    Run held(String message, String device) {
      held.add(reception(message, device));
      return this;
    }

    Account account() {
      return Account.of(
          new Evidence(
              accepted,
              unsure,
              rows,
              table,
              api,
              seen,
              held,
              inBroker,
              still,
              Set.of("mqtt", "apns", "fcm")));
    }
  }
}
