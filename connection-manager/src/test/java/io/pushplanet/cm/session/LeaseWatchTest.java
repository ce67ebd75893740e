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
    assertThat(watch.renewed(clock.instant())).isFalse();

    clock.advance(SessionDirectory.LEASE);

    assertThat(watch.renewed(clock.instant())).isFalse();
  }

  @Test
  void a_lease_that_ran_out_has_lapsed_once() {
    watch.renewed(clock.instant());
    clock.advance(SessionDirectory.LEASE.plus(Duration.ofMillis(1)));

    assertThat(watch.renewed(clock.instant())).isTrue();
    assertThat(watch.renewed(clock.instant())).isFalse();
  }
}
