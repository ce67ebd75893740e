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

class AppBulkheadsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final AppId FLOODING = new AppId("flooding");
  private static final AppId OTHER = new AppId("other");

  private final CountDownLatch ends = new CountDownLatch(1);
  private final AtomicInteger atWork = new AtomicInteger();

  private final AppBulkheads bulkheads =
      new AppBulkheads(10, 10, Duration.ofDays(1), ProblemCode.OVERLOADED, "Fewer at once.");

  private String slow() throws InterruptedException {
    atWork.incrementAndGet();
    ends.await();
    return "done";
  }

  @Test
  void a_flooding_app_gets_half_of_the_permits_and_others_run_at_once() throws Exception {
    List<Future<String>> flood = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 5; i++) {
          flood.add(callers.submit(() -> bulkheads.call(FLOODING, 1, this::slow)));
        }
        Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(5));
        for (int i = 0; i < 7; i++) {
          flood.add(callers.submit(() -> bulkheads.call(FLOODING, 1, this::slow)));
        }
        Eventually.within(PATIENCE, () -> assertThat(flood).filteredOn(Future::isDone).hasSize(2));

        assertThat(bulkheads.call(OTHER, 5, () -> "at once")).isEqualTo("at once");
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
    assertThat(bulkheads.apps()).isZero();
  }

  @Test
  void work_that_is_too_heavy_takes_half_of_the_permits() throws Exception {
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<String> heavy = callers.submit(() -> bulkheads.call(FLOODING, 1_000_000, this::slow));
      Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(1));
      try {
        assertThat(bulkheads.call(OTHER, 1_000_000, () -> "beside it")).isEqualTo("beside it");
        assertThat(bulkheads.apps()).isOne();
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
              bulkheads.call(
                  OTHER,
                  5,
                  () -> {
                    throw new IllegalStateException("away");
                  }))
          .hasMessage("away");
    }

    assertThat(bulkheads.apps()).isZero();
    assertThat(bulkheads.call(OTHER, 5, () -> "done")).isEqualTo("done");
  }
}
