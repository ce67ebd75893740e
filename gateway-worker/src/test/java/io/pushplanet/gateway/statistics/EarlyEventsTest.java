package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EarlyEventsTest {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final MutableClock clock = MutableClock.started();
  private final MessageIds ids = new MessageIds(clock, new Random(7));
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<byte[]> aside = new ArrayList<>();
  private final EarlyEvents early = new EarlyEvents(aside::addAll, clock, PAUSE, meters);

  @Test
  void a_receipt_counts_as_made_up_thirty_seconds_after_the_first_look_for_its_delivery() {
    DeliveryEvent.Receipt receipt = receipt();
    clock.advance(Duration.ofHours(1));
    assertThat(early.among(List.of(receipt))).as("nothing has looked").containsExactly(receipt);

    DeliveryEvent seen = putAside(receipt);

    clock.advance(Duration.ofMillis(29_999));
    assertThat(early.among(List.of(seen))).containsExactly(seen);
    assertThat(putAside(seen)).as("the first look counts").isEqualTo(seen);
    assertThat(dropped()).isZero();

    clock.advance(Duration.ofMillis(1));
    assertThat(early.among(List.of(seen))).isEmpty();
    assertThat(dropped()).isEqualTo(1);
  }

  @Test
  void no_receipt_counts_as_made_up_until_the_statistics_have_kept_up_for_thirty_seconds() {
    DeliveryEvent seen = putAside(receipt());
    clock.advance(Duration.ofMinutes(5));

    early.fellBehind();

    assertThat(early.among(List.of(seen))).containsExactly(seen);
    assertThat(early.pause(List.of(seen))).isEqualTo(PAUSE);
    clock.advance(EarlyEvents.RECEIPT_PATIENCE);
    assertThat(early.pause(List.of(seen))).isEqualTo(Duration.ZERO);
    assertThat(early.among(List.of(seen))).isEmpty();
  }

  /// While no worker ran, no other event was written either.
  @Test
  void a_worker_that_has_just_started_drops_no_receipt() {
    DeliveryEvent seen = putAside(receipt());
    clock.advance(Duration.ofMinutes(5));

    EarlyEvents restarted = new EarlyEvents(_ -> {}, clock, PAUSE, meters);

    assertThat(restarted.among(List.of(seen))).containsExactly(seen);
  }

  /// Otherwise more of them could arrive each second than there are places, and the events behind
  /// them would wait longer and longer.
  @Test
  void receipts_are_tried_for_the_last_time_without_a_pause() {
    List<DeliveryEvent> old = List.of(putAside(receipt()), putAside(receipt()));
    assertThat(early.pause(old)).isEqualTo(PAUSE);

    clock.advance(EarlyEvents.RECEIPT_PATIENCE);

    assertThat(early.pause(old)).isEqualTo(Duration.ZERO);
    assertThat(early.pause(List.of(old.getFirst(), putAside(receipt())))).isEqualTo(PAUSE);
  }

  @Test
  void an_uplink_is_early_while_another_writer_holds_its_app() {
    DeliveryEvent uplink =
        new DeliveryEvent.Uplink(
            new AppId("shop"), clock.instant(), new DeviceId("d1"), "1", new byte[0]);

    clock.advance(Duration.ofHours(1));

    assertThat(early.among(List.of(uplink))).containsExactly(uplink);
    assertThat(early.pause(List.of(uplink))).isEqualTo(PAUSE);
  }

  /// @return the event as it lies in `push.early`
  private DeliveryEvent putAside(DeliveryEvent event) {
    early.putAside(List.of(event));
    return WireForm.read(aside.removeLast(), DeliveryEvent.class);
  }

  private DeliveryEvent.Receipt receipt() {
    return new DeliveryEvent.Receipt(
        new AppId("shop"),
        clock.instant(),
        ids.next(),
        new DeviceId("d1"),
        DeliveryEvent.Receipt.Kind.OPENED);
  }

  private double dropped() {
    return meters.get("pushplanet.statistics.receipts.dropped").counter().count();
  }
}
