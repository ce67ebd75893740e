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
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.statistics.HeldEvents.Flow;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HeldEventsTest {
  private static final AppId SHOP = new AppId("shop");
  private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
  private static final DeviceId PHONE = new DeviceId("phone");
  private static final DeviceId WATCH = new DeviceId("watch");

  private final Clock clock = Clock.fixed(NOON, ZoneOffset.UTC);
  private final MessageIds ids = new MessageIds(clock, new Random(1));
  private final MessageIds oldIds = ids(HeldEvents.OVERTAKEN.negated());
  private final MessageIds youngIds = ids(HeldEvents.OVERTAKEN);
  private final HeldEvents heldEvents = new HeldEvents(0);
  private long nowNanos;

  @Test
  void an_acceptance_waits_until_something_is_told_of_each_recipient() {
    MessageId message = ids.next();
    DeliveryEvent.Accepted accepted = accepted(message, PHONE, WATCH);
    DeliveryEvent.Ended phone = ended(message, PHONE);
    DeliveryEvent.Attempted watch = attempted(message, WATCH);

    tell(accepted);
    tell(phone);
    assertThat(due(Flow.STEADY)).isEmpty();
    tell(watch);

    assertThat(due(Flow.STEADY)).containsExactly(accepted, phone, watch);
    assertThat(heldEvents.isEmpty()).isTrue();
  }

  @Test
  void an_end_that_comes_just_before_its_acceptance_is_told_with_it() {
    MessageId message = ids.next();
    DeliveryEvent.Ended phone = ended(message, PHONE);
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);

    tell(phone);
    tell(accepted);

    assertThat(due(Flow.STEADY)).containsExactly(phone, accepted);
  }

  @Test
  void an_event_without_an_acceptance_at_hand_does_not_wait() {
    DeliveryEvent.Ended end = ended(oldIds.next(), PHONE);
    DeliveryEvent.Accepted broad = accepted(ids.next());
    DeliveryEvent.Receipt receipt =
        new DeliveryEvent.Receipt(SHOP, NOON, ids.next(), PHONE, DeliveryEvent.Receipt.Kind.OPENED);

    tell(end);
    tell(broad);
    tell(receipt);

    assertThat(due(Flow.STEADY)).containsExactlyInAnyOrder(end, broad, receipt);
  }

  @Test
  void an_end_that_has_overtaken_its_acceptance_waits_a_little_for_it() {
    MessageId message = ids.next();
    DeliveryEvent.Ended ofOneWrittenBefore = ended(oldIds.next(), PHONE);
    DeliveryEvent.Ended early = ended(message, PHONE);
    DeliveryEvent.Ended alone = ended(ids(Duration.ofHours(1)).next(), PHONE);
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);

    tell(accepted(ids.next(), WATCH));
    tell(ofOneWrittenBefore);
    tell(early);
    tell(alone);
    assertThat(due(Flow.STEADY)).containsExactly(ofOneWrittenBefore);
    tell(accepted);
    assertThat(due(Flow.STEADY)).containsExactly(early, accepted);
    pass(HeldEvents.LONGEST);

    assertThat(due(Flow.STEADY)).contains(alone);
  }

  @Test
  void an_end_waits_for_its_acceptance_even_if_that_was_overtaken() {
    MessageId message = ids(HeldEvents.OVERTAKEN.minusMillis(1).negated()).next();
    DeliveryEvent.Ended early = ended(message, PHONE);
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);

    tell(accepted(ids.next(), WATCH));
    tell(early);
    assertThat(due(Flow.STEADY)).isEmpty();
    tell(accepted);

    assertThat(due(Flow.STEADY)).containsExactly(early, accepted);
  }

  @Test
  void a_receipt_waits_for_the_row_it_needs() {
    MessageId message = ids.next();
    DeliveryEvent.Accepted accepted = accepted(message, PHONE, WATCH);
    DeliveryEvent.Ended phone = ended(message, PHONE);
    DeliveryEvent.Receipt opened =
        new DeliveryEvent.Receipt(SHOP, NOON, message, PHONE, DeliveryEvent.Receipt.Kind.OPENED);
    DeliveryEvent.Ended watch = ended(message, WATCH);

    tell(accepted);
    tell(phone);
    tell(opened);
    assertThat(due(Flow.STEADY)).isEmpty();
    tell(watch);

    assertThat(due(Flow.STEADY)).containsExactly(accepted, phone, opened, watch);
  }

  @Test
  void events_that_later_messages_have_overtaken_are_written() {
    MessageId slow = ids.next();
    MessageId quick = youngIds.next();
    DeliveryEvent.Accepted first = accepted(slow, PHONE);
    DeliveryEvent.Accepted second = accepted(quick, PHONE);
    DeliveryEvent.Ended end = ended(quick, PHONE);

    tell(first);
    pass(HeldEvents.OVERTAKEN);
    tell(second);
    assertThat(due(Flow.STEADY)).isEmpty();
    tell(end);

    assertThat(due(Flow.STEADY)).containsExactly(second, end, first);
  }

  @Test
  void an_end_waits_at_most_a_second_for_a_slow_recipient() {
    MessageId message = ids.next();
    DeliveryEvent.Accepted accepted = accepted(message, PHONE, WATCH);
    DeliveryEvent.Ended phone = ended(message, PHONE);

    tell(accepted);
    tell(phone);
    pass(Duration.ofSeconds(1));

    assertThat(due(Flow.STEADY)).containsExactly(accepted, phone);
  }

  @Test
  void an_acceptance_waits_for_nothing_longer_than_a_second() {
    DeliveryEvent.Accepted accepted = accepted(ids.next(), PHONE);

    tell(accepted);
    pass(HeldEvents.LONGEST.minusMillis(1));
    assertThat(due(Flow.STEADY)).isEmpty();
    pass(Duration.ofMillis(1));

    assertThat(due(Flow.STEADY)).containsExactly(accepted);
  }

  @Test
  void no_event_waits_while_the_writers_are_stuck() {
    DeliveryEvent.Accepted accepted = accepted(ids.next(), PHONE);

    tell(accepted);

    assertThat(due(Flow.STUCK)).containsExactly(accepted);
  }

  @Test
  void while_ends_lie_in_their_queue_acceptances_do_not_run_ahead_of_them() {
    DeliveryEvent.Ended ofOneWrittenBefore = ended(oldIds.next(), PHONE);
    MessageId message = ids.next();
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);
    DeliveryEvent.Ended end = ended(message, PHONE);

    tell(accepted);
    assertThat(due(Flow.BEHIND)).isEmpty();
    tell(ofOneWrittenBefore);
    assertThat(due(Flow.BEHIND)).containsExactly(ofOneWrittenBefore);
    pass(HeldEvents.OVERTAKEN);
    tell(end);

    assertThat(due(Flow.BEHIND)).containsExactly(accepted, end);
  }

  @Test
  void acceptances_whose_ends_do_not_come_wait_once_and_not_again_for_a_while() {
    DeliveryEvent.Accepted first = accepted(ids.next(), PHONE);
    DeliveryEvent.Accepted second = accepted(ids.next(), PHONE);
    DeliveryEvent.Accepted third = accepted(ids.next(), PHONE);

    tell(first);
    assertThat(due(Flow.BEHIND)).isEmpty();
    pass(HeldEvents.IN_VAIN);
    assertThat(due(Flow.BEHIND)).containsExactly(first);
    tell(second);
    assertThat(due(Flow.BEHIND)).containsExactly(second);
    pass(HeldEvents.NEXT_TRY);
    tell(third);

    assertThat(due(Flow.BEHIND)).isEmpty();
  }

  @Test
  void while_the_writers_are_behind_a_slow_write_makes_no_recipient_slow() {
    MessageId message = ids.next();
    MessageId neighbour = ids.next();
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);
    DeliveryEvent.Ended end = ended(message, PHONE);
    tell(accepted(ids.next(), WATCH));
    tell(accepted);

    pass(HeldEvents.LONGEST_BEHIND.minusMillis(1));
    tell(accepted(neighbour, PHONE));
    tell(ended(neighbour, PHONE));
    assertThat(due(Flow.BEHIND)).hasSize(2);
    tell(end);

    assertThat(due(Flow.BEHIND)).containsExactly(accepted, end);
  }

  @Test
  void while_the_writers_are_behind_an_end_waits_however_long_a_write_takes() {
    MessageId message = ids.next();
    MessageId neighbour = ids.next();
    DeliveryEvent.Ended end = ended(message, PHONE);
    DeliveryEvent.Accepted accepted = accepted(message, PHONE);
    tell(accepted(ids.next(), WATCH));
    tell(end);

    pass(HeldEvents.LONGEST_BEHIND.minusMillis(1));
    tell(accepted(neighbour, PHONE));
    tell(ended(neighbour, PHONE));
    assertThat(due(Flow.BEHIND)).hasSize(2);
    tell(accepted);

    assertThat(due(Flow.BEHIND)).containsExactly(end, accepted);
  }

  @Test
  void while_the_writers_are_behind_overtaken_or_long_held_events_are_written() {
    DeliveryEvent.Accepted slow = accepted(ids.next(), PHONE);
    DeliveryEvent.Accepted slowToo = accepted(youngIds.next(), PHONE);
    DeliveryEvent.Ended early = ended(ids(Duration.ofHours(1)).next(), PHONE);
    MessageId quick = youngIds.next();
    tell(slow);
    tell(slowToo);
    tell(early);

    pass(HeldEvents.OVERTAKEN);
    tell(accepted(quick, PHONE));
    tell(ended(quick, PHONE));
    assertThat(due(Flow.BEHIND)).hasSize(3).contains(slow);
    pass(HeldEvents.LONGEST_BEHIND.minus(HeldEvents.OVERTAKEN));

    assertThat(due(Flow.BEHIND)).containsExactlyInAnyOrder(slowToo, early);
  }

  @Test
  void an_acceptance_from_a_late_clock_waits_a_little_as_well() {
    DeliveryEvent.Accepted late = accepted(ids.next(), PHONE);
    MessageId quick = ids(Duration.ofMinutes(1)).next();
    tell(accepted(quick, PHONE));
    tell(ended(quick, PHONE));

    tell(late);
    assertThat(due(Flow.BEHIND)).hasSize(2).doesNotContain(late);
    pass(HeldEvents.OVERTAKEN);

    assertThat(due(Flow.BEHIND)).containsExactly(late);
  }

  @Test
  void a_message_without_recipients_yet_overtakes_no_other() {
    DeliveryEvent.Accepted first = accepted(ids.next(), PHONE);
    DeliveryEvent.Accepted broad = accepted(youngIds.next());

    tell(first);
    pass(HeldEvents.OVERTAKEN);
    tell(broad);

    assertThat(due(Flow.STEADY)).containsExactly(broad);
  }

  private MessageIds ids(Duration later) {
    return new MessageIds(Clock.offset(clock, later), new Random(2));
  }

  private void tell(DeliveryEvent event) {
    heldEvents.add(new Batch(List.of(event)), nowNanos);
  }

  private void pass(Duration time) {
    nowNanos += time.toNanos();
  }

  private List<DeliveryEvent> due(Flow flow) {
    return heldEvents.due(nowNanos, flow).stream().map(HeldEvents.Told::event).toList();
  }

  private static DeliveryEvent.Accepted accepted(MessageId message, DeviceId... devices) {
    List<DeviceId> recipients = List.of(devices);
    return new DeliveryEvent.Accepted(
        SHOP,
        NOON,
        message,
        NOON.plusSeconds(60),
        WireForm.json(new Audience.All()),
        WireForm.json(new Content("Shipped", null, Map.of())),
        WireForm.json(DeliveryOptions.DEFAULT),
        recipients,
        !recipients.isEmpty(),
        null);
  }

  private static DeliveryEvent.Ended ended(MessageId message, DeviceId device) {
    Attempt attempt = Attempt.delivered(Channel.APNS, NOON, 200, null);
    return new DeliveryEvent.Ended(SHOP, NOON, message, device, DeliveryState.DELIVERED, attempt);
  }

  private static DeliveryEvent.Attempted attempted(MessageId message, DeviceId device) {
    return new DeliveryEvent.Attempted(
        SHOP,
        NOON,
        message,
        device,
        Attempt.parked(Channel.MQTT, NOON, "not_connected", "waits in the inbox"));
  }
}
