package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import org.junit.jupiter.api.Test;

class ConnectionReplacementTest {
  private final MutableClock clock = MutableClock.started();
  private final ConnectionReplacement replacement = new ConnectionReplacement(clock);

  @Test
  void after_a_servers_error_a_connection_is_replaced() {
    assertThat(replacement.isWanted("one", 503)).isTrue();
    assertThat(replacement.isWanted("other", 500)).isTrue();
  }

  @Test
  void a_storm_of_errors_replaces_one_in_a_minute() {
    replacement.isWanted("one", 503);
    clock.advance(ConnectionReplacement.EVERY.minusMillis(1));
    assertThat(replacement.isWanted("one", 503)).isFalse();

    clock.advance(ConnectionReplacement.EVERY);

    assertThat(replacement.isWanted("one", 503)).isTrue();
  }

  @Test
  void an_answer_that_is_no_server_error_replaces_no_connection() {
    assertThat(replacement.isWanted("one", 200)).isFalse();
    assertThat(replacement.isWanted("one", 429)).isFalse();
    assertThat(replacement.isWanted("one", 502)).isFalse();
  }
}
