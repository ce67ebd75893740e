package io.pushplanet.dispatcher.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AppTurnsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final AppId FLOODING = new AppId("flooding");
  private static final AppId OTHER = new AppId("other");

  private final CountDownLatch ends = new CountDownLatch(1);
  private final AtomicInteger atWork = new AtomicInteger();

  private final AppTurns turns =
      new AppTurns(10, 10, Duration.ofDays(1), ProblemCode.OVERLOADED, "Fewer at once.");

  private String slow() throws InterruptedException {
    atWork.incrementAndGet();
    ends.await();
    return "done";
  }

  @Test
  void who_floods_has_half_of_the_turns_and_half_of_the_line_and_others_come_at_once()
      throws Exception {
    List<Future<String>> flood = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 5; i++) {
          flood.add(callers.submit(() -> turns.inTurn(FLOODING, 1, this::slow)));
        }
        Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(5));
        for (int i = 0; i < 7; i++) {
          flood.add(callers.submit(() -> turns.inTurn(FLOODING, 1, this::slow)));
        }
        Eventually.within(PATIENCE, () -> assertThat(flood).filteredOn(Future::isDone).hasSize(2));

        assertThat(turns.inTurn(OTHER, 5, () -> "at once")).isEqualTo("at once");
        assertThat(atWork).hasValue(5);
      } finally {
        ends.countDown();
      }
      for (Future<String> one : flood) {
        if (one.state() == Future.State.FAILED) {
          assertThat(one.exceptionNow())
              .isInstanceOfSatisfying(
                  ProblemException.class,
                  problem -> assertThat(problem.code()).isEqualTo(ProblemCode.OVERLOADED));
        } else {
          assertThat(one.get()).isEqualTo("done");
        }
      }
    }
    assertThat(atWork).hasValue(10);
    assertThat(turns.apps()).isZero();
  }

  @Test
  void what_is_too_heavy_counts_as_half_and_leaves_the_other_half_to_others() throws Exception {
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> heavy = callers.submit(() -> turns.inTurn(FLOODING, 1_000_000, this::slow));
      Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(1));
      try {
        assertThat(turns.inTurn(OTHER, 1_000_000, () -> "beside it")).isEqualTo("beside it");
        assertThat(turns.apps()).isOne();
      } finally {
        ends.countDown();
      }
      assertThat(heavy.get()).isEqualTo("done");
    }
  }

  @Test
  void work_that_fails_leaves_nothing_behind() {
    for (int i = 0; i < 30; i++) {
      assertThatThrownBy(() ->
              turns.inTurn(
                  OTHER,
                  5,
                  () -> {
                    throw new IllegalStateException("away");
                  }))
          .hasMessage("away");
    }

    assertThat(turns.apps()).isZero();
    assertThat(turns.inTurn(OTHER, 5, () -> "done")).isEqualTo("done");
  }
}
