package io.pushplanet.gateway.webpush;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.MutableClock;
import org.junit.jupiter.api.Test;

class RestingHostsTest {
  private static final String HOST = "https://silent.net";
  private final MutableClock clock = MutableClock.started();
  private final RestingHosts hosts = new RestingHosts(clock);

  private void fail(int times) {
    for (int i = 0; i < times; i++) {
      hosts.failed(HOST);
    }
  }

  @Test
  void a_host_that_never_answers_rests_and_no_other() {
    fail(RestingHosts.MAX_FAILURES);

    assertThat(hosts.rest(HOST)).contains(RestingHosts.REST);
    assertThat(hosts.rest("https://other.net")).isEmpty();
  }

  @Test
  void an_answer_in_between_keeps_it_awake() {
    fail(RestingHosts.MAX_FAILURES - 1);
    hosts.answered(HOST);
    fail(RestingHosts.MAX_FAILURES - 1);

    assertThat(hosts.rest(HOST)).isEmpty();
  }

  @Test
  void after_its_rest_it_is_asked_again_and_one_more_failure_is_enough() {
    fail(RestingHosts.MAX_FAILURES);
    clock.advance(RestingHosts.REST);

    assertThat(hosts.rest(HOST)).isEmpty();
    fail(1);
    assertThat(hosts.rest(HOST)).contains(RestingHosts.REST);
  }
}
