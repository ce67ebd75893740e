package io.pushplanet.gateway.hms;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FlowControlTest {
  private final MutableClock clock = MutableClock.started();
  private final FlowControl flow = new FlowControl(clock);

  private Duration refused() {
    return flow.refused("1", null);
  }

  @Test
  void an_app_rests_longer_with_each_refusal_in_a_row_and_a_minute_at_most() {
    assertThat(flow.rest("1")).isEmpty();

    assertThat(refused()).isEqualTo(Duration.ofSeconds(1));
    // Under way together with the first.
    assertThat(refused()).isEqualTo(Duration.ofSeconds(1));
    clock.advance(Duration.ofSeconds(1));
    assertThat(flow.rest("1")).isEmpty();
    assertThat(refused()).isEqualTo(Duration.ofSeconds(2));
    for (int i = 0; i < 20; i++) {
      clock.advance(Duration.ofMinutes(1));
      assertThat(refused()).isLessThanOrEqualTo(Duration.ofMinutes(1));
    }

    assertThat(flow.rest("1")).contains(Duration.ofMinutes(1));
    assertThat(flow.rest("2")).isEmpty();
  }

  @Test
  void it_starts_anew_once_something_was_taken_after_the_rest() {
    refused();
    // An answer to an earlier request.
    flow.taken("1");
    assertThat(flow.rest("1")).contains(Duration.ofSeconds(1));
    clock.advance(Duration.ofSeconds(1));
    refused();
    clock.advance(Duration.ofSeconds(2));

    flow.taken("1");

    assertThat(refused()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void a_rest_that_huawei_asks_for_is_kept() {
    assertThat(flow.refused("1", Duration.ofMinutes(5))).isEqualTo(Duration.ofMinutes(5));
    assertThat(flow.rest("1")).contains(Duration.ofMinutes(5));
  }

  @Test
  void one_answer_makes_an_app_rest_for_a_bounded_time_only() {
    assertThat(flow.refused("1", Duration.ofDays(1))).isEqualTo(Duration.ofMinutes(15));
    assertThat(flow.rest("1")).contains(Duration.ofMinutes(15));
  }

  @Test
  void a_later_answer_to_a_request_under_way_does_not_shorten_the_rest() {
    flow.refused("1", Duration.ofMinutes(5));

    clock.advance(Duration.ofSeconds(2));

    assertThat(refused()).isEqualTo(Duration.ofMinutes(5).minusSeconds(2));
  }
}
