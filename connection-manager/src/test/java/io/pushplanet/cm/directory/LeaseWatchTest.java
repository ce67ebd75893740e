package io.pushplanet.cm.directory;

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
    assertThat(renewed(true)).isFalse();

    clock.advance(SessionDirectory.LEASE);

    assertThat(renewed(true)).isFalse();
  }

  @Test
  void a_lease_that_ran_out_has_lapsed_once() {
    renewed(true);
    clock.advance(SessionDirectory.LEASE.plus(Duration.ofMillis(1)));

    assertThat(renewed(true)).isTrue();
    assertThat(renewed(true)).isFalse();
  }

  @Test
  void a_lease_that_the_directory_has_lost_counts_as_lapsed_but_the_first_one_does_not() {
    assertThat(renewed(false)).isFalse();

    clock.advance(Duration.ofSeconds(3));

    assertThat(renewed(false)).isTrue();
    assertThat(renewed(true)).isFalse();
  }

  @Test
  void inboxes_are_checked_twice_after_the_first_renewal_and_after_a_lapse() {
    assertThat(mayHaveMissed()).isTrue();
    assertThat(mayHaveMissed()).isTrue();
    assertThat(mayHaveMissed()).isFalse();
    clock.advance(SessionDirectory.LEASE.plus(Duration.ofMillis(1)));

    assertThat(mayHaveMissed()).isTrue();
    assertThat(mayHaveMissed()).isTrue();
    assertThat(mayHaveMissed()).isFalse();
  }

  /// While Redis was slow, gateways read the former lease, which ran out.
  @Test
  void a_lease_that_ran_out_while_its_renewal_was_under_way_has_lapsed() {
    renewed(true);
    clock.advance(SessionDirectory.LEASE.minus(Duration.ofMillis(500)));
    var composed = clock.instant();
    clock.advance(Duration.ofMillis(501));

    assertThat(watch.renewed(composed, clock.instant(), true)).isTrue();

    clock.advance(SessionDirectory.LEASE.minus(Duration.ofMillis(501)));
    assertThat(renewed(true)).isFalse();
  }

  private boolean renewed(boolean known) {
    return watch.renewed(clock.instant(), clock.instant(), known);
  }

  private boolean mayHaveMissed() {
    return watch.mayHaveMissed(clock.instant(), clock.instant(), true);
  }
}
