package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseWatchTest {
  private final MutableClock clock = MutableClock.started();
  private final LeaseWatch watch = new LeaseWatch();

  @Test
  void a_lease_that_is_renewed_in_time_has_not_lapsed() {
    assertThat(watch.renewed(clock.instant(), true)).isFalse();

    clock.advance(SessionDirectory.LEASE);

    assertThat(watch.renewed(clock.instant(), true)).isFalse();
  }

  @Test
  void a_lease_that_ran_out_has_lapsed_once() {
    watch.renewed(clock.instant(), true);
    clock.advance(SessionDirectory.LEASE.plus(Duration.ofMillis(1)));

    assertThat(watch.renewed(clock.instant(), true)).isTrue();
    assertThat(watch.renewed(clock.instant(), true)).isFalse();
  }

  @Test
  void a_lease_that_the_directory_has_lost_counts_as_lapsed_but_the_first_one_does_not() {
    assertThat(watch.renewed(clock.instant(), false)).isFalse();

    clock.advance(Duration.ofSeconds(3));

    assertThat(watch.renewed(clock.instant(), false)).isTrue();
    assertThat(watch.renewed(clock.instant(), true)).isFalse();
  }

  @Test
  void after_the_first_renewal_and_after_a_lapse_inboxes_are_looked_into_twice() {
    assertThat(watch.mayHaveMissed(clock.instant(), true)).isTrue();
    assertThat(watch.mayHaveMissed(clock.instant(), true)).isTrue();
    assertThat(watch.mayHaveMissed(clock.instant(), true)).isFalse();
    clock.advance(SessionDirectory.LEASE.plus(Duration.ofMillis(1)));

    assertThat(watch.mayHaveMissed(clock.instant(), true)).isTrue();
    assertThat(watch.mayHaveMissed(clock.instant(), true)).isTrue();
    assertThat(watch.mayHaveMissed(clock.instant(), true)).isFalse();
  }
}
