package io.pushplanet.gateway.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class RetryScheduleTest {
  private final RetrySchedule schedule = new RetrySchedule(new Random());

  @RepeatedTest(20)
  void a_wait_is_never_shorter_than_the_provider_asks_for() {
    TryAgain asked = new TryAgain(503, "UNAVAILABLE", Duration.ofSeconds(40), true);

    assertThat(schedule.after(Channel.FCM, asked, 0))
        .isBetween(Duration.ofSeconds(40), Duration.ofSeconds(50));
  }

  @Test
  void a_time_that_has_passed_is_nothing_to_wait_for() {
    TryAgain asked = new TryAgain(503, "UNAVAILABLE", Duration.ofSeconds(-40), true);

    assertThat(schedule.after(Channel.HMS, asked, 0))
        .isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_750));
    assertThat(schedule.after(new PutOff(0, "rest", Duration.ofSeconds(-40)))).isZero();
  }

  @RepeatedTest(20)
  void fcm_is_left_alone_for_ten_seconds_after_an_error_and_longer_each_time() {
    TryAgain error = new TryAgain(500, "INTERNAL", null, true);

    assertThat(schedule.after(Channel.FCM, error, 0))
        .isBetween(Duration.ofSeconds(10), Duration.ofMillis(12_500));
    assertThat(schedule.after(Channel.FCM, error, 4))
        .isBetween(Duration.ofSeconds(160), Duration.ofSeconds(200));
  }

  @RepeatedTest(20)
  void a_provider_that_asks_for_little_time_and_again_is_given_more() {
    TryAgain asked = new TryAgain(503, "UNAVAILABLE", Duration.ofSeconds(1), true);

    assertThat(schedule.after(Channel.FCM, asked, 3))
        .isBetween(Duration.ofSeconds(80), Duration.ofSeconds(100));
  }

  @RepeatedTest(20)
  void a_quota_is_waited_for_as_long_as_its_provider_says() {
    TryAgain quota = new TryAgain(429, "QUOTA_EXCEEDED", Duration.ofSeconds(8), false);

    assertThat(schedule.after(Channel.FCM, quota, 5))
        .isBetween(Duration.ofSeconds(8), Duration.ofSeconds(10));
  }

  @RepeatedTest(20)
  void apple_is_asked_once_more_soon_and_then_every_quarter_of_an_hour() {
    for (TryAgain error :
        List.of(
            new TryAgain(500, "InternalServerError", null, true),
            new TryAgain(503, "ServiceUnavailable", null, true))) {
      assertThat(schedule.after(Channel.APNS, error, 0))
          .isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_750));
      assertThat(schedule.after(Channel.APNS, error, 1))
          .isBetween(Duration.ofMinutes(15), Duration.ofSeconds(1_125));
    }
  }

  @RepeatedTest(20)
  void an_answer_of_a_proxy_is_not_apples() {
    assertThat(schedule.after(Channel.APNS, new TryAgain(502, "http_502", null, true), 1))
        .isBetween(Duration.ofSeconds(6), Duration.ofMillis(7_500));
  }

  @Test
  void a_long_wait_ends_two_seconds_before_the_time_to_live() {
    Duration wait = Duration.ofMinutes(1);

    assertThat(RetrySchedule.beforeItsEnd(wait, Duration.ofSeconds(30), Duration.ZERO))
        .isEqualTo(Duration.ofSeconds(28));
    assertThat(RetrySchedule.beforeItsEnd(wait, Duration.ofMinutes(2), Duration.ZERO))
        .isEqualTo(wait);
  }

  @Test
  void a_last_try_that_would_come_too_soon_is_left_out() {
    Duration wait = Duration.ofMinutes(1);

    assertThat(RetrySchedule.beforeItsEnd(wait, Duration.ofMillis(4_999), Duration.ofSeconds(3)))
        .isEqualTo(wait);
    assertThat(RetrySchedule.beforeItsEnd(wait, Duration.ofSeconds(5), Duration.ofSeconds(3)))
        .isEqualTo(Duration.ofSeconds(3));
    assertThat(RetrySchedule.beforeItsEnd(wait, Duration.ofSeconds(1), Duration.ZERO))
        .isEqualTo(wait);
  }

  @RepeatedTest(20)
  void waits_double_up_to_a_quarter_of_an_hour() {
    TryAgain error = new TryAgain(503, "http_503", null, true);

    assertThat(schedule.after(Channel.WEBPUSH, error, 1))
        .isBetween(Duration.ofSeconds(6), Duration.ofMillis(7_500));
    assertThat(schedule.after(Channel.WEBPUSH, error, 1_000))
        .isLessThanOrEqualTo(RetrySchedule.LONGEST.multipliedBy(5).dividedBy(4));
  }
}
