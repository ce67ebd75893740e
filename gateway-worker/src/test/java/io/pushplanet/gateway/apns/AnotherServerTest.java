package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import org.junit.jupiter.api.Test;

class AnotherServerTest {
  private final MutableClock clock = MutableClock.started();
  private final AnotherServer another = new AnotherServer(clock);

  @Test
  void after_a_servers_error_a_connection_is_replaced() {
    assertThat(another.isWanted("one", 503)).isTrue();
    assertThat(another.isWanted("other", 500)).isTrue();
  }

  @Test
  void a_storm_of_errors_replaces_one_in_a_minute() {
    another.isWanted("one", 503);
    clock.advance(AnotherServer.EVERY.minusMillis(1));
    assertThat(another.isWanted("one", 503)).isFalse();

    clock.advance(AnotherServer.EVERY);

    assertThat(another.isWanted("one", 503)).isTrue();
  }

  @Test
  void what_is_no_error_of_apples_server_replaces_none() {
    assertThat(another.isWanted("one", 200)).isFalse();
    assertThat(another.isWanted("one", 429)).isFalse();
    assertThat(another.isWanted("one", 502)).isFalse();
  }
}
