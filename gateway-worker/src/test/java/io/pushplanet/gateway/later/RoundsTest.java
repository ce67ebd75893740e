package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;

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

  @Test
  void a_stop_waits_for_the_round_that_runs() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    AtomicBoolean done = new AtomicBoolean();
    Rounds work = slow(begun, goesOn, done);
    work.start();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    FutureTask<Boolean> stop =
        new FutureTask<>(() -> {
          work.stop();
          return done.get();
        });
    Thread.ofPlatform().daemon(true).start(stop);
    Eventually.within(Duration.ofSeconds(20), () -> assertThat(work.isRunning()).isFalse());

    goesOn.countDown();

    assertThat(stop.get(20, TimeUnit.SECONDS)).as("the round was done").isTrue();
  }

  @Test
  void rounds_end_side_by_side() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goesOn = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(2);
    AtomicBoolean done = new AtomicBoolean();
    Rounds one = slow(begun, goesOn, done);
    Rounds other = slow(begun, goesOn, done);
    one.start();
    other.start();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

    one.stop(stopped::countDown);
    other.stop(stopped::countDown);

    assertThat(stopped.getCount()).as("none is told stopped before its round is done").isEqualTo(2);
    goesOn.countDown();
    assertThat(stopped.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(done).isTrue();
  }

  private static Rounds slow(CountDownLatch begun, CountDownLatch goesOn, AtomicBoolean done) {
    return new Rounds(
        "test",
        Duration.ofMillis(1),
        () -> {
          begun.countDown();
          try {
            done.set(goesOn.await(20, TimeUnit.SECONDS));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return false;
        },
        new SimpleMeterRegistry());
  }

  /// Who drains lanes waits for somebody who looks after those that wait for a place.
  @Test
  void what_stops_last_goes_on_while_others_stop() {
    Semaphore rounds = new Semaphore(0);
    AtomicBoolean looked = new AtomicBoolean();
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(
          "looks",
          Rounds.class,
          () ->
              new Rounds(
                      "looks",
                      Duration.ofMillis(5),
                      () -> {
                        rounds.release();
                        return false;
                      },
                      new SimpleMeterRegistry())
                  .stoppingLast());
      context.registerBean("drains", Drain.class, () -> new Drain(rounds, looked));
      context.refresh();
    }

    assertThat(looked).isTrue();
  }

  /// Stops when it has been looked after for a while.
  private record Drain(Semaphore rounds, AtomicBoolean looked) implements SmartLifecycle {
    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public boolean isRunning() {
      return true;
    }

    @Override
    public void stop(Runnable stopped) {
      rounds.drainPermits();
      Thread.ofVirtual()
          .start(() -> {
            try {
              looked.set(rounds.tryAcquire(50, 10, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } finally {
              stopped.run();
            }
          });
    }
  }
}
