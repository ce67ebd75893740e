package io.pushplanet.gateway.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.provider.DeliveryOutcome.Deferred;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class RetryScheduleTest {
  private final RetrySchedule schedule = new RetrySchedule(new Random());

  @RepeatedTest(20)
  void what_the_provider_asks_for_is_never_undercut() {
    Deferred asked = new Deferred(503, "UNAVAILABLE", Duration.ofSeconds(40), true);

    assertThat(schedule.after(Channel.FCM, asked, 0))
        .isBetween(Duration.ofSeconds(40), Duration.ofSeconds(50));
  }

  @Test
  void a_time_that_has_passed_is_now() {
    Deferred asked = new Deferred(503, "UNAVAILABLE", Duration.ofSeconds(-40), true);

    assertThat(schedule.after(Channel.HMS, asked, 0)).isZero();
  }

  @RepeatedTest(20)
  void fcm_is_left_alone_for_about_ten_seconds_after_an_error() {
    assertThat(schedule.after(Channel.FCM, new Deferred(500, "INTERNAL", null, false), 0))
        .isBetween(Duration.ofMillis(7_500), Duration.ofMillis(12_500));
  }

  @RepeatedTest(20)
  void waits_double_up_to_a_quarter_of_an_hour() {
    Deferred error = new Deferred(503, "ServiceUnavailable", null, true);

    assertThat(schedule.after(Channel.APNS, error, 1))
        .isBetween(Duration.ofMillis(4_500), Duration.ofMillis(7_500));
    assertThat(schedule.after(Channel.APNS, error, 1_000))
        .isLessThanOrEqualTo(RetrySchedule.LONGEST.multipliedBy(5).dividedBy(4));
  }
}
