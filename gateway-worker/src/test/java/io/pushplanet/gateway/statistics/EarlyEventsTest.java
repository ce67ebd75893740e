package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EarlyEventsTest {
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final MutableClock clock = MutableClock.started();
  private final MessageIds ids = new MessageIds(clock, new Random(7));
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final EarlyEvents early = new EarlyEvents(_ -> {}, clock, PAUSE, meters);

  @Test
  void a_receipt_is_early_for_thirty_seconds_and_made_up_then() {
    DeliveryEvent receipt = receipt();

    clock.advance(Duration.ofMillis(29_999));
    assertThat(early.among(List.of(receipt))).containsExactly(receipt);
    assertThat(dropped()).isZero();

    clock.advance(Duration.ofMillis(1));
    assertThat(early.among(List.of(receipt))).isEmpty();
    assertThat(dropped()).isEqualTo(1);
  }

  /// Otherwise more of them could arrive each second than there are places, and the events behind
  /// them would wait longer and longer.
  @Test
  void receipts_are_tried_for_the_last_time_without_a_pause() {
    List<DeliveryEvent> old = List.of(receipt(), receipt());
    assertThat(early.pause(old)).isEqualTo(PAUSE);

    clock.advance(EarlyEvents.RECEIPT_PATIENCE);

    assertThat(early.pause(old)).isEqualTo(Duration.ZERO);
    assertThat(early.pause(List.of(old.getFirst(), receipt()))).isEqualTo(PAUSE);
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

  private DeliveryEvent receipt() {
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
