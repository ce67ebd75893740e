package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.Priority;
import io.pushplanet.common.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TurnstileTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Test
  void a_tenth_of_the_room_is_kept_for_what_is_high() throws Exception {
    Turnstile turnstile = new Turnstile(20);
    for (int i = 0; i < 18; i++) {
      assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isTrue();
    }

    assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isFalse();
    assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isTrue();
    assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isTrue();
    assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isFalse();
    turnstile.leave();
    assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isFalse();
    assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isTrue();
  }

  @Test
  void pushy_139_pushy_407_node_apn_191_no_more_are_let_in_than_there_is_room_for()
      throws Exception {
    Turnstile turnstile = new Turnstile(10);

    int entered = 0;
    for (int i = 0; i < 10_000; i++) {
      entered += turnstile.enter(Priority.HIGH, Duration.ZERO) ? 1 : 0;
    }

    assertThat(entered).isEqualTo(10);
    assertThat(turnstile.waiting()).isZero();
  }

  @Test
  void a_free_place_goes_to_what_is_high_however_long_the_others_wait() throws Exception {
    Turnstile turnstile = new Turnstile(1);
    List<Priority> entered = new CopyOnWriteArrayList<>();
    assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 3; i++) {
        threads.submit(() -> pass(turnstile, Priority.NORMAL, entered));
      }
      Eventually.within(PATIENCE, () -> assertThat(turnstile.waiting()).isEqualTo(3));
      threads.submit(() -> pass(turnstile, Priority.HIGH, entered));
      Eventually.within(PATIENCE, () -> assertThat(turnstile.waiting()).isEqualTo(4));
      turnstile.leave();
    }

    assertThat(entered)
        .containsExactly(Priority.HIGH, Priority.NORMAL, Priority.NORMAL, Priority.NORMAL);
  }

  @Test
  void room_goes_to_who_waits_and_not_to_who_comes_when_it_becomes_free() throws Exception {
    Turnstile turnstile = new Turnstile(1);
    assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> waits = threads.submit(() -> turnstile.enter(Priority.NORMAL, PATIENCE));
      Eventually.within(PATIENCE, () -> assertThat(turnstile.waiting()).isOne());
      turnstile.leave();

      assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isFalse();
      assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isFalse();
      assertThat(waits.get()).isTrue();
    }
  }

  @Test
  void those_behind_one_that_is_high_and_gave_up_go_on() throws Exception {
    Turnstile turnstile = new Turnstile(10);
    for (int i = 0; i < 9; i++) {
      assertThat(turnstile.enter(Priority.NORMAL, Duration.ZERO)).isTrue();
    }
    assertThat(turnstile.enter(Priority.HIGH, Duration.ZERO)).isTrue();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Boolean> high =
          threads.submit(() -> turnstile.enter(Priority.HIGH, Duration.ofMillis(200)));
      Future<Boolean> normal = threads.submit(() -> turnstile.enter(Priority.NORMAL, PATIENCE));
      Eventually.within(PATIENCE, () -> assertThat(turnstile.waiting()).isEqualTo(2));
      assertThat(high.get()).isFalse();
      turnstile.leave();
      turnstile.leave();

      assertThat(normal.get()).isTrue();
    }
  }

  private static boolean pass(Turnstile turnstile, Priority priority, List<Priority> entered)
      throws InterruptedException {
    boolean inside = turnstile.enter(priority, PATIENCE);
    if (inside) {
      entered.add(priority);
      turnstile.leave();
    }
    return inside;
  }
}
