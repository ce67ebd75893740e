package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PacedWorkerTest {
  private static final Duration APART = Duration.ofMillis(80);

  /// As a task does that waits for an answer which came before the wait.
  @Test
  void an_unparked_worker_does_not_begin_the_next_task_sooner() throws Exception {
    try (var worker = new PacedWorker("paced-worker-test", APART)) {
      long asked = System.nanoTime();
      begun(worker).get(20, TimeUnit.SECONDS);
      long second = begun(worker).get(20, TimeUnit.SECONDS);

      assertThat(second - asked).isGreaterThanOrEqualTo(APART.toNanos());
    }
  }

  private static CompletableFuture<Long> begun(PacedWorker worker) {
    var begun = new CompletableFuture<Long>();
    worker.execute(() -> {
      begun.complete(System.nanoTime());
      LockSupport.unpark(Thread.currentThread());
    });
    return begun;
  }
}
