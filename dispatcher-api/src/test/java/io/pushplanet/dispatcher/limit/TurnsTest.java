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

class TurnsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CountDownLatch began = new CountDownLatch(1);
  private final CountDownLatch ends = new CountDownLatch(1);

  private static Turns turns(int atOnce, int inLine) {
    return new Turns(
        atOnce, inLine, Duration.ofDays(1), ProblemCode.DATABASE_UNAVAILABLE, "Try again.");
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
  void who_comes_when_the_line_is_full_is_told_at_once() throws Exception {
    Turns turns = turns(1, 1);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> first = callers.submit(() -> turns.inTurn(this::slow));
      began.await();
      List<Future<String>> two =
          List.of(
              callers.submit(() -> turns.inTurn(() -> "found")),
              callers.submit(() -> turns.inTurn(() -> "found")));

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
    Turns turns = turns(1, 0);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() ->
              turns.inTurn(() -> {
                throw new IllegalStateException("away");
              }))
          .hasMessage("away");
    }

    assertThat(turns.inTurn(() -> "found")).isEqualTo("found");
  }

  @Test
  void heavy_work_waits_for_the_light_and_what_finds_no_place_is_told_at_once() throws Exception {
    Turns turns = turns(10, 10);
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> light = callers.submit(() -> turns.inTurn(3, this::slow));
      began.await();
      // Beside the light work there is a place for one of the two, and a turn for neither.
      List<Future<String>> two =
          List.of(
              callers.submit(() -> turns.inTurn(8, () -> "heavy")),
              callers.submit(() -> turns.inTurn(10, () -> "heavy")));

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
  void what_is_too_heavy_is_done_alone() {
    assertThat(turns(10, 10).inTurn(1_000, () -> "alone")).isEqualTo("alone");
  }
}
