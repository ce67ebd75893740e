package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final AppId SHOP = new AppId("shop");
  private static final DeviceId D1 = new DeviceId("d1");

  private final MutableClock clock = MutableClock.started();
  private final MessageId message = new MessageIds(clock, new Random(1)).next();
  private final Ledger ledger = new Ledger(Map.of());

  @Test
  void an_accepted_recipient_is_queued_and_counted_once() {
    ledger.apply(accepted());
    ledger.apply(accepted());

    assertThat(row().state).isEqualTo(DeliveryState.QUEUED);
    assertThat(change().recipients).isEqualTo(1);
    assertThat(counted("accepted")).isEqualTo(1);
  }

  @Test
  void a_delivery_that_is_told_twice_is_one_delivery() {
    DeliveryEvent ended = ended(DeliveryState.DELIVERED, null);

    ledger.apply(accepted());
    ledger.apply(ended);
    ledger.apply(ended);

    assertThat(row().state).isEqualTo(DeliveryState.DELIVERED);
    assertThat(change().delivered).isEqualTo(1);
    assertThat(change().duplicates).isZero();
    assertThat(counted("delivered")).isEqualTo(1);
  }

  @Test
  void delivered_again_by_another_attempt_is_a_duplicate() {
    ledger.apply(ended(DeliveryState.DELIVERED, null));
    clock.advance(Duration.ofSeconds(1));
    ledger.apply(ended(DeliveryState.DELIVERED, null));

    assertThat(row().duplicates).isEqualTo(1);
    assertThat(change().duplicates).isEqualTo(1);
    assertThat(change().delivered).isEqualTo(1);
  }

  @Test
  void delivered_replaces_any_other_end_and_moves_the_counts() {
    ledger.apply(ended(DeliveryState.FAILED, "timeout"));
    clock.advance(Duration.ofSeconds(1));
    ledger.apply(ended(DeliveryState.DELIVERED, null));

    assertThat(row().state).isEqualTo(DeliveryState.DELIVERED);
    assertThat(row().reason).isNull();
    assertThat(change().failed).isZero();
    assertThat(change().delivered).isEqualTo(1);
    assertThat(counted("failed")).isZero();
  }

  @Test
  void nothing_replaces_delivered() {
    ledger.apply(ended(DeliveryState.DELIVERED, null));
    clock.advance(Duration.ofSeconds(1));
    ledger.apply(ended(DeliveryState.EXPIRED, "ttl"));

    assertThat(row().state).isEqualTo(DeliveryState.DELIVERED);
    assertThat(change().expired).isZero();
  }

  @Test
  void the_first_of_two_other_ends_stays() {
    ledger.apply(ended(DeliveryState.EXPIRED, "ttl"));
    clock.advance(Duration.ofSeconds(1));
    ledger.apply(ended(DeliveryState.FAILED, "BadDeviceToken"));

    assertThat(row().state).isEqualTo(DeliveryState.EXPIRED);
    assertThat(change().failed).isZero();
    assertThat(change().expired).isEqualTo(1);
  }

  /// parse-community/parse-server#2275: a push whose end comes first is SENDING for ever.
  @Test
  void parse_server_2275_an_end_that_comes_before_its_acceptance_counts_the_same() {
    ledger.apply(ended(DeliveryState.DELIVERED, null));
    ledger.apply(accepted());

    assertThat(row().state).isEqualTo(DeliveryState.DELIVERED);
    assertThat(change().recipients).isEqualTo(1);
    assertThat(change().accepted).isNotNull();
  }

  @Test
  void an_opened_receipt_counts_once() {
    ledger.apply(ended(DeliveryState.DELIVERED, null));
    ledger.apply(opened(SHOP));
    ledger.apply(opened(SHOP));

    assertThat(row().openedAt).isNotNull();
    assertThat(change().opened).isEqualTo(1);
    assertThat(counted("opened")).isEqualTo(1);
  }

  @Test
  void a_device_cannot_make_up_a_delivery_nor_open_another_apps() {
    ledger.apply(opened(SHOP));
    assertThat(ledger.changedRows()).isEmpty();

    ledger.apply(ended(DeliveryState.DELIVERED, null));
    ledger.apply(opened(new AppId("bank")));

    assertThat(row().openedAt).isNull();
    assertThat(ledger.withoutRow()).hasSize(2);
  }

  @Test
  void a_long_timeline_keeps_its_beginning_and_its_end() {
    for (int i = 0; i < 50; i++) {
      clock.advance(Duration.ofSeconds(1));
      ledger.apply(attempted("deferred", "reason " + i));
    }

    assertThat(row().attempts).hasSize(DeliveryRow.MAX_ATTEMPTS);
    assertThat(row().attempts.getFirst().reason()).isEqualTo("reason 0");
    assertThat(row().attempts.getLast().reason()).isEqualTo("reason 49");
  }

  @Test
  void a_late_end_stands_in_a_long_timeline_and_counts_once() {
    ledger.apply(attempted("deferred", "first"));
    clock.advance(Duration.ofSeconds(1));
    DeliveryEvent ended = ended(DeliveryState.DELIVERED, null);
    for (int i = 0; i < DeliveryRow.MAX_ATTEMPTS; i++) {
      clock.advance(Duration.ofSeconds(1));
      ledger.apply(attempted("deferred", "reason " + i));
    }

    ledger.apply(ended);
    ledger.apply(ended);

    assertThat(row().attempts)
        .hasSize(DeliveryRow.MAX_ATTEMPTS)
        .extracting(Attempt::result)
        .contains("delivered");
    assertThat(row().duplicates).isZero();
  }

  @Test
  void an_end_stays_in_a_long_timeline_whatever_follows() {
    ledger.apply(attempted("deferred", "first"));
    clock.advance(Duration.ofSeconds(1));
    DeliveryEvent ended = ended(DeliveryState.DELIVERED, null);
    for (int i = 0; i < DeliveryRow.MAX_ATTEMPTS; i++) {
      clock.advance(Duration.ofSeconds(1));
      ledger.apply(attempted("deferred", "reason " + i));
    }
    ledger.apply(ended);

    for (int i = 0; i < DeliveryRow.MAX_ATTEMPTS; i++) {
      clock.advance(Duration.ofSeconds(1));
      ledger.apply(attempted("deferred", "behind " + i));
    }
    ledger.apply(ended);

    assertThat(row().attempts)
        .hasSize(DeliveryRow.MAX_ATTEMPTS)
        .extracting(Attempt::result)
        .startsWith("deferred", "delivered");
    assertThat(row().duplicates).isZero();
    assertThat(change().delivered).isEqualTo(1);
  }

  @Test
  void a_late_attempt_stands_at_its_time() {
    DeliveryEvent parked = attempted("parked", "not_here");
    DeliveryEvent besides = attempted("deferred", "at_the_same_time");
    clock.advance(Duration.ofMillis(15));
    DeliveryEvent ended = ended(DeliveryState.EXPIRED, "collapsed");

    ledger.apply(ended);
    ledger.apply(parked);
    ledger.apply(besides);
    ledger.apply(parked);

    assertThat(row().attempts)
        .extracting(Attempt::result)
        .containsExactly("parked", "deferred", "expired");
    assertThat(row().reason).isEqualTo("collapsed");
  }

  @Test
  void a_queued_delivery_shows_its_latest_attempt_not_the_last_event() {
    DeliveryEvent first = attempted("deferred", "unreachable");
    clock.advance(Duration.ofMillis(15));
    DeliveryEvent second = attempted("parked", "not_here");

    ledger.apply(second);
    ledger.apply(first);

    assertThat(row().reason).isEqualTo("not_here");
  }

  private DeliveryRow row() {
    return ledger.changedRows().get(new DeliveryKey(message, D1));
  }

  private MessageChange change() {
    return ledger.messages().get(message);
  }

  private long counted(String outcome) {
    return ledger.minutes().entrySet().stream()
        .filter(entry -> entry.getKey().outcome().equals(outcome))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private DeliveryEvent accepted() {
    return new DeliveryEvent.Accepted(
        SHOP,
        message.time(),
        message,
        message.time().plusSeconds(60),
        WireForm.json(new Audience.Devices(List.of(D1))),
        WireForm.json(new Content("t", null, Map.of())),
        WireForm.json(DeliveryOptions.DEFAULT),
        List.of(D1),
        true,
        null);
  }

  private DeliveryEvent attempted(String result, String reason) {
    return new DeliveryEvent.Attempted(SHOP, clock.instant(), message, D1, attempt(result, reason));
  }

  private DeliveryEvent ended(DeliveryState state, @Nullable String reason) {
    return new DeliveryEvent.Ended(
        SHOP, clock.instant(), message, D1, state, attempt(state.word(), reason));
  }

  private DeliveryEvent opened(AppId app) {
    return new DeliveryEvent.Receipt(
        app, clock.instant(), message, D1, DeliveryEvent.Receipt.Kind.OPENED);
  }

  private Attempt attempt(String result, @Nullable String reason) {
    return new Attempt(Channel.MQTT, clock.instant(), result, null, reason, null, null, null);
  }
}
