package io.pushplanet.dashboard.overview;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentTest {
  private static final Duration FRESH = Duration.ofSeconds(4);

  private final AtomicLong nanoTime = new AtomicLong(Long.MAX_VALUE - 1);
  private final AtomicInteger asked = new AtomicInteger();
  private final Recent<Integer> recent = new Recent<>(asked::incrementAndGet, FRESH, nanoTime::get);

  @Test
  void a_result_is_shared_for_a_moment_and_then_asked_for_again() {
    assertThat(recent.get()).isOne();
    nanoTime.addAndGet(FRESH.toNanos() - 1);
    assertThat(recent.get()).isOne();

    nanoTime.addAndGet(1);
    assertThat(recent.get()).isEqualTo(2);
  }

  @Test
  void many_that_ask_at_once_cost_one_question() throws Exception {
    var begun = new CountDownLatch(1);
    var free = new CountDownLatch(1);
    var slow =
        new Recent<>(
            () -> {
              begun.countDown();
              await(free);
              return asked.incrementAndGet();
            },
            FRESH,
            nanoTime::get);

    List<Future<Integer>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 20; i++) {
        answers.add(threads.submit(slow::get));
      }
      await(begun);
      free.countDown();
      for (Future<Integer> answer : answers) {
        assertThat(answer.get(60, TimeUnit.SECONDS)).isOne();
      }
    }
  }

  @Test
  void a_failure_is_not_kept() {
    var failing =
        new Recent<>(
            () -> {
              if (asked.incrementAndGet() == 1) {
                throw new IllegalStateException("the database is away");
              }
              return "known";
            },
            FRESH,
            nanoTime::get);

    assertThatThrownBy(failing::get).hasMessage("the database is away");
    assertThat(failing.get()).isEqualTo("known");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
