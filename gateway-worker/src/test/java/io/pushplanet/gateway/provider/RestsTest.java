package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.time.SteadyClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RestsTest {
  private static final Duration FIRST_REST = Duration.ofSeconds(30);

  private final MutableClock clock = MutableClock.started();
  private final Rests devices = Rests.ofDevices(clock, FIRST_REST);

  @Test
  void a_device_rests_as_long_as_its_provider_says_and_no_other_does() {
    devices.refused("one", Duration.ofSeconds(40));

    clock.advance(Duration.ofSeconds(39));
    assertThat(devices.rest("one")).contains(Duration.ofSeconds(1));
    assertThat(devices.rest("other")).isEmpty();
    clock.advance(Duration.ofSeconds(1));
    assertThat(devices.rest("one")).isEmpty();
  }

  @Test
  void it_rests_twice_as_long_each_time_and_a_quarter_of_an_hour_at_most() {
    Duration rest = FIRST_REST;
    for (int i = 0; i < 10; i++) {
      assertThat(devices.refused("one", null)).isEqualTo(rest);
      clock.advance(rest);
      Duration twice = rest.multipliedBy(2);
      rest = twice.compareTo(Rests.LONGEST_ASKED) > 0 ? Rests.LONGEST_ASKED : twice;
    }
    assertThat(devices.refused("one", Duration.ofDays(1))).isEqualTo(Rests.LONGEST_ASKED);
  }

  @Test
  void refusals_of_requests_under_way_together_are_one() {
    devices.refused("one", null);
    assertThat(devices.refused("one", null)).isEqualTo(FIRST_REST);
  }

  @Test
  void a_device_that_is_sent_to_again_begins_anew() {
    devices.refused("one", null);
    clock.advance(FIRST_REST);

    devices.taken("one");

    assertThat(devices.refused("one", null)).isEqualTo(FIRST_REST);
  }

  @Test
  void a_device_does_not_rest_for_as_long_as_the_time_of_day_is_set_back() {
    AtomicLong nanos = new AtomicLong();
    Rests steady = Rests.ofDevices(new SteadyClock(clock, nanos::get), FIRST_REST);
    steady.refused("one", null);

    clock.advance(Duration.ofHours(-1));
    nanos.addAndGet(FIRST_REST.toNanos());

    assertThat(steady.rest("one")).isEmpty();
  }

  @Test
  void an_answer_from_before_the_refusal_does_not_end_the_rest() {
    devices.refused("one", null);

    devices.taken("one");

    assertThat(devices.rest("one")).contains(FIRST_REST);
  }

  @Test
  void a_rest_is_never_negative() {
    assertThat(devices.refused("one", Duration.ZERO)).isZero();
    clock.advance(Duration.ofMillis(500));
    assertThat(devices.refused("one", Duration.ZERO)).isZero();
    assertThat(devices.refused("other", Duration.ofSeconds(-9))).isZero();

    assertThat(devices.rest("one")).isEmpty();
    assertThat(devices.rest("other")).isEmpty();
  }
}
