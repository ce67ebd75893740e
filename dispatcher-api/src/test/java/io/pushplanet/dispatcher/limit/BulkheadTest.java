package io.pushplanet.dispatcher.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class BulkheadTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CountDownLatch began = new CountDownLatch(1);
  private final CountDownLatch ends = new CountDownLatch(1);

  private static Bulkhead bulkhead(int permits, int mostWaiting) {
    return new Bulkhead(
        permits, mostWaiting, Duration.ofDays(1), ProblemCode.DATABASE_UNAVAILABLE, "Try again.");
  }

  private String slow() {
    began.countDown();
    try {
      ends.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return "found";
  }

  @Test
  void a_caller_is_refused_at_once_when_too_many_wait() throws Exception {
    Bulkhead bulkhead = bulkhead(1, 1);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> first = callers.submit(() -> bulkhead.call(this::slow));
      began.await();
      List<Future<String>> two =
          List.of(
              callers.submit(() -> bulkhead.call(() -> "found")),
              callers.submit(() -> bulkhead.call(() -> "found")));

      Future<String> refused;
      try {
        Eventually.within(PATIENCE, () -> assertThat(two).anyMatch(Future::isDone));
        refused = two.getFirst().isDone() ? two.getFirst() : two.getLast();
      } finally {
        ends.countDown();
      }
      Future<String> waits = refused == two.getFirst() ? two.getLast() : two.getFirst();

      assertThatThrownBy(refused::get)
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOfSatisfying(
              ProblemException.class,
              problem -> {
                assertThat(problem.code()).isEqualTo(ProblemCode.DATABASE_UNAVAILABLE);
                assertThat(problem.headers()).containsEntry("Retry-After", "1");
              });
      assertThat(waits.get()).isEqualTo("found");
      assertThat(first.get()).isEqualTo("found");
    }
  }

  @Test
  void failed_work_leaves_its_place_to_the_next() {
    Bulkhead bulkhead = bulkhead(1, 0);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() ->
              bulkhead.call(() -> {
                throw new IllegalStateException("away");
              }))
          .hasMessage("away");
    }

    assertThat(bulkhead.call(() -> "found")).isEqualTo("found");
  }

  @Test
  void heavy_work_waits_for_light_work_or_is_refused_at_once() throws Exception {
    Bulkhead bulkhead = bulkhead(10, 10);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> light = callers.submit(() -> bulkhead.call(3, this::slow));
      began.await();
      // Beside the light work, one of the two may wait, and neither may run.
      List<Future<String>> two =
          List.of(
              callers.submit(() -> bulkhead.call(8, () -> "heavy")),
              callers.submit(() -> bulkhead.call(10, () -> "heavy")));

      Future<String> refused;
      Future<String> waits;
      try {
        Eventually.within(PATIENCE, () -> assertThat(two).anyMatch(Future::isDone));
        refused = two.getFirst().isDone() ? two.getFirst() : two.getLast();
        waits = refused == two.getFirst() ? two.getLast() : two.getFirst();
        assertThat(waits).isNotDone();
      } finally {
        ends.countDown();
      }

      assertThatThrownBy(refused::get).cause().isInstanceOf(ProblemException.class);
      assertThat(waits.get()).isEqualTo("heavy");
      assertThat(light.get()).isEqualTo("found");
    }
  }

  @Test
  void work_heavier_than_all_permits_runs_alone() {
    assertThat(bulkhead(10, 10).call(1_000, () -> "alone")).isEqualTo("alone");
  }
}
