package io.pushplanet.dispatcher.access;

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

class LookUpsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final CountDownLatch began = new CountDownLatch(1);
  private final CountDownLatch ends = new CountDownLatch(1);

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
    LookUps lookUps = new LookUps(1, 1, Duration.ofDays(1));
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> first = callers.submit(() -> lookUps.inTurn(this::slow));
      began.await();
      List<Future<String>> two =
          List.of(
              callers.submit(() -> lookUps.inTurn(() -> "found")),
              callers.submit(() -> lookUps.inTurn(() -> "found")));

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
  void a_failed_look_up_leaves_its_place_to_the_next() {
    LookUps lookUps = new LookUps(1, 0, Duration.ofDays(1));
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() ->
              lookUps.inTurn(() -> {
                throw new IllegalStateException("away");
              }))
          .hasMessage("away");
    }

    assertThat(lookUps.inTurn(() -> "found")).isEqualTo("found");
  }
}
