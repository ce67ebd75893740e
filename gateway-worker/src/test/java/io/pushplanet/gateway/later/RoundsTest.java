package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RoundsTest {
  @Test
  void the_work_goes_on_after_an_error() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Rounds work =
        new Rounds(
            "test",
            Duration.ofMillis(1),
            () -> {
              rounds.countDown();
              if (rounds.getCount() == 1) {
                throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
              }
              return false;
            },
            meters);

    work.start();

    assertThat(rounds.await(20, TimeUnit.SECONDS)).isTrue();
    work.stop();
    assertThat(meters.get("pushplanet.rounds.failed").tag("name", "test").counter().count())
        .isEqualTo(1);
  }
}
