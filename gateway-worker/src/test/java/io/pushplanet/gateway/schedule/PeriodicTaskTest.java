package io.pushplanet.gateway.schedule;

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

class PeriodicTaskTest {
  @Test
  void a_task_goes_on_after_an_error() throws Exception {
    CountDownLatch rounds = new CountDownLatch(2);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    PeriodicTask task =
        new PeriodicTask(
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

    task.start();

    assertThat(rounds.await(20, TimeUnit.SECONDS)).isTrue();
    task.stop();
    assertThat(meters.get("pushplanet.rounds.failed").tag("name", "test").counter().count())
        .isEqualTo(1);
  }

  @Test
  void a_resting_task_begins_no_round() throws Exception {
    AtomicBoolean resting = new AtomicBoolean(true);
    CountDownLatch asked = new CountDownLatch(3);
    CountDownLatch begun = new CountDownLatch(1);
    PeriodicTask task =
        new PeriodicTask(
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

    task.start();

    assertThat(asked.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(begun.getCount()).isEqualTo(1);
    resting.set(false);
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    task.stop();
  }

  @Test
  void a_stop_waits_for_the_running_round() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    AtomicBoolean done = new AtomicBoolean();
    PeriodicTask task = slow(begun, goesOn, done);
    task.start();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();
    FutureTask<Boolean> stop =
        new FutureTask<>(() -> {
          task.stop();
          return done.get();
        });
    Thread.ofPlatform().daemon(true).start(stop);
    Eventually.within(Duration.ofSeconds(20), () -> assertThat(task.isRunning()).isFalse());

    goesOn.countDown();

    assertThat(stop.get(20, TimeUnit.SECONDS)).as("the round was done").isTrue();
  }

  @Test
  void tasks_stop_side_by_side() throws Exception {
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goesOn = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(2);
    AtomicBoolean done = new AtomicBoolean();
    PeriodicTask one = slow(begun, goesOn, done);
    PeriodicTask other = slow(begun, goesOn, done);
    one.start();
    other.start();
    assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

    one.stop(stopped::countDown);
    other.stop(stopped::countDown);

    assertThat(stopped.getCount())
        .as("no task reports its stop before its round is done")
        .isEqualTo(2);
    goesOn.countDown();
    assertThat(stopped.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(done).isTrue();
  }

  private static PeriodicTask slow(
      CountDownLatch begun, CountDownLatch goesOn, AtomicBoolean done) {
    return new PeriodicTask(
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

  /// A lane that drains needs the task that looks after the messages waiting for a place.
  @Test
  void a_task_that_stops_last_runs_while_others_stop() {
    Semaphore rounds = new Semaphore(0);
    AtomicBoolean looked = new AtomicBoolean();
    try (GenericApplicationContext context = new GenericApplicationContext()) {
      context.registerBean(
          "looks",
          PeriodicTask.class,
          () ->
              new PeriodicTask(
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

  /// Reports its stop after the task has run 50 more rounds.
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
