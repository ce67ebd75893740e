package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class AllOrNoneTest {
  private static final List<Program> ALL =
      List.of(Program.CONNECTION_MANAGER, Program.DISPATCHER, Program.WORKER);

  @Test
  @Timeout(60)
  void the_first_failure_ends_the_other_starts() {
    Set<Program> givenUp = ConcurrentHashMap.newKeySet();
    CountDownLatch never = new CountDownLatch(1);

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() ->
            AllOrNone.start(
                ALL,
                program -> {
                  if (program == Program.WORKER) {
                    throw new ProcessFailed("it died");
                  }
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    givenUp.add(program);
                  }
                },
                () -> {}))
        .withMessage("it died");

    assertThat(givenUp).containsExactlyInAnyOrder(Program.CONNECTION_MANAGER, Program.DISPATCHER);
  }

  @Test
  @Timeout(60)
  void what_is_done_meanwhile_may_make_the_starts_succeed() {
    CountDownLatch server = new CountDownLatch(1);

    AllOrNone.start(ALL, program -> await(server), server::countDown);

    assertThat(server.getCount()).isZero();
  }

  @Test
  @Timeout(60)
  void a_failure_meanwhile_ends_the_starts() {
    CountDownLatch never = new CountDownLatch(1);

    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() ->
            AllOrNone.start(
                ALL,
                program -> await(never),
                () -> {
                  throw new ProcessFailed("Redis died");
                }))
        .withMessage("Redis died");
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ProcessFailed("given up", e);
    }
  }

  @Test
  void all_are_started() {
    Set<Program> started = ConcurrentHashMap.newKeySet();

    AllOrNone.start(ALL, started::add, () -> {});

    assertThat(started).containsExactlyInAnyOrderElementsOf(ALL);
  }
}
