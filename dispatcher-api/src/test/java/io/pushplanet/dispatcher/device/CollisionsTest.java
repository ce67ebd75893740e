package io.pushplanet.dispatcher.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.support.TransactionOperations;

class CollisionsTest {
  private static final AppId SHOP = new AppId("shop");

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int CONNECTIONS = 10;

  private final Collisions collisions =
      new Collisions(TransactionOperations.withoutTransaction(), CONNECTIONS);
  private final Deque<DataAccessException> refusals = new ArrayDeque<>();
  private final AtomicInteger tries = new AtomicInteger();

  private static DataAccessException deadlock() {
    return new CannotAcquireLockException(
        "", new SQLException("Deadlock found when trying to get lock", "40001", 1213));
  }

  private String register() {
    return collisions.retrying(
        SHOP,
        () -> {
          tries.incrementAndGet();
          if (!refusals.isEmpty()) {
            throw refusals.remove();
          }
          return "registered";
        });
  }

  @Test
  void a_deadlock_or_a_collision_is_tried_again() {
    while (refusals.size() < Collisions.MAX_TRIES - 1) {
      refusals.add(refusals.size() % 2 == 0 ? deadlock() : new DuplicateKeyException("there"));
    }

    assertThat(register()).isEqualTo("registered");
    assertThat(tries).hasValue(Collisions.MAX_TRIES);
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void a_registration_that_collides_in_all_tries_gets_a_503(DataAccessException refusal) {
    while (refusals.size() < Collisions.MAX_TRIES) {
      refusals.add(refusal);
    }

    assertThatThrownBy(this::register)
        .isInstanceOfSatisfying(ProblemException.class, CollisionsTest::isRetryable);
    assertThat(tries).hasValue(Collisions.MAX_TRIES);
  }

  static List<DataAccessException> refusals() {
    return List.of(deadlock(), new DuplicateKeyException("there"));
  }

  private static void isRetryable(ProblemException problem) {
    assertThat(problem.code()).isEqualTo(ProblemCode.DATABASE_UNAVAILABLE);
    assertThat(problem.headers()).containsKey("Retry-After");
  }

  @Test
  void a_lock_wait_timeout_is_reported_at_once() {
    DataAccessException held =
        new CannotAcquireLockException(
            "", new SQLException("Lock wait timeout exceeded", "40001", 1205));
    refusals.add(held);

    assertThatThrownBy(this::register)
        .isInstanceOfSatisfying(ProblemException.class, CollisionsTest::isRetryable);
    assertThat(tries).hasValue(1);
  }

  /// Each registration collides once, and again as often as another one runs at the same time.
  @Test
  void registrations_that_are_repeated_do_not_collide_again() throws Exception {
    AtomicInteger again = new AtomicInteger();
    AtomicBoolean met = new AtomicBoolean();
    List<Future<String>> answers = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 50; i++) {
        AtomicBoolean refused = new AtomicBoolean();
        answers.add(
            callers.submit(() ->
                collisions.retrying(
                    SHOP,
                    () -> {
                      if (refused.compareAndSet(false, true)) {
                        throw deadlock();
                      }
                      if (again.incrementAndGet() > 1) {
                        met.set(true);
                      }
                      Thread.yield();
                      again.decrementAndGet();
                      return "registered";
                    })));
      }
      for (Future<String> answer : answers) {
        assertThat(answer.get()).isEqualTo("registered");
      }
    }
    assertThat(met).isFalse();
  }

  @Test
  void registrations_of_an_app_that_all_wait_leave_connections_to_other_apps() throws Exception {
    AtomicInteger atWork = new AtomicInteger();
    CountDownLatch unlocked = new CountDownLatch(1);
    List<Future<String>> answers = new ArrayList<>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        for (int i = 0; i < 50; i++) {
          answers.add(
              callers.submit(() ->
                  collisions.retrying(
                      SHOP,
                      () -> {
                        atWork.incrementAndGet();
                        await(unlocked);
                        return "registered";
                      })));
        }
        Eventually.within(PATIENCE, () -> assertThat(atWork).hasValue(4));

        assertThat(collisions.retrying(new AppId("other"), () -> "at once")).isEqualTo("at once");
        assertThat(atWork).hasValue(4);
      } finally {
        unlocked.countDown();
      }
    }
    assertThat(answers).filteredOn(answer -> answer.state() == Future.State.SUCCESS).isNotEmpty();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
