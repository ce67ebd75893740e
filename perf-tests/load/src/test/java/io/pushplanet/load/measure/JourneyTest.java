package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.load.client.SendOutcome;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class JourneyTest {
  private static final MessageId ID = new MessageId("0190b8a0-0000-7000-8000-000000000001");
  private static final DeviceId DEVICE = new DeviceId("d1");
  private static final long MS = 1_000_000;

  private final AtomicInteger finished = new AtomicInteger();
  private final Journey journey = new Journey(finished::incrementAndGet);

  @Test
  void a_message_is_measured_from_its_request_and_from_its_202() {
    journey.answered(new SendOutcome.Accepted(ID), 10 * MS, 12 * MS);
    journey.arrived(DEVICE, ID.value(), 20 * MS);

    assertThat(journey.accepts().getMaxValue()).isBetween(2_000L, 2_010L);
    assertThat(journey.sinceSent().getMaxValue()).isBetween(10_000L, 10_010L);
    assertThat(journey.sinceAccepted().getMaxValue()).isBetween(8_000L, 8_010L);
  }

  @Test
  void a_device_may_be_faster_than_the_answer_and_a_repeat_counts_once() {
    journey.arrived(DEVICE, ID.value(), 11 * MS);
    journey.answered(new SendOutcome.Accepted(ID), 10 * MS, 12 * MS);
    journey.arrived(DEVICE, ID.value(), 30 * MS);

    assertThat(journey.arrived()).isOne();
    assertThat(finished).hasValue(1);
    assertThat(journey.sinceSent().getMaxValue()).isBetween(1_000L, 1_010L);
  }

  @Test
  void a_request_that_is_not_accepted_makes_room_and_counts_for_nothing() {
    journey.answered(new SendOutcome.Refused(503, ""), 1, 2);

    assertThat(journey.accepted()).isZero();
    assertThat(finished).hasValue(1);
  }
}
