package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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

  @Test
  void no_round_is_begun_while_it_rests() throws Exception {
    AtomicBoolean resting = new AtomicBoolean(true);
    CountDownLatch asked = new CountDownLatch(3);
    CountDownLatch begun = new CountDownLatch(1);
    Rounds work =
        new Rounds(
            "test",
            Duration.ofMillis(1),
            () -> {
              asked.countDown();
              return resting.get();
            },
            () -> {
              begun.countDown();
              return false;
            },
            new SimpleMeterRegistry());

    work.start();

    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(begun.getCount()).isEqualTo(1);
    resting.set(false);
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    work.stop();
  }
}
